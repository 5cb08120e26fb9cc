package engine

import "orchestrate/internal/sandbox"

// checkEnv gives an attempt that has ended the environment and the sandbox that its checks
// run in: those of its program, with a private folder that the program has not been in. A
// check that took a build or a test result from there would believe the program's word.
func (r *run) checkEnv(a *attempt) error {
	ad, ok := r.eng.adapter(a.route.Runtime)
	if !ok || len(a.job.Checks) == 0 {
		return nil
	}
	if a.taken { // by its program as it would be started now
		if cmd, err := ad.Command(r.request(a), r.profile(a.route.Runtime)); err == nil {
			a.cmd.Env = cmd.Env
		}
	}
	before, box := a.private.Path, a.box
	r.dropPrivate(a)
	if box == nil || !r.plan.Sandbox.Holds() {
		return r.settleEnvironment(a, ad)
	}
	a.env = r.environment(a, ad)
	if err := r.furnishPrivately(a); err != nil {
		return err
	}
	a.box = &sandbox.Policy{Read: box.Read, Deny: box.Deny, List: box.List, Write: []string{a.private.Path}}
	for _, path := range box.Write {
		if path != before {
			a.box.Write = append(a.box.Write, path)
		}
	}
	r.completeEnvironment(a, ad)
	return nil
}
