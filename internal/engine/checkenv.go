package engine

import "slices"

// checkEnv gives an attempt that has ended the environment and the sandbox that its checks
// run in: those of its program, but for what only that program needs, and with a private
// folder that it has not been in. A check that took a build or a test result from there
// would believe the program's word.
func (r *run) checkEnv(a *attempt) error {
	ad, ok := r.adapterOf(a)
	if !ok || len(a.job.Checks) == 0 {
		return nil
	}
	if a.taken { // by its program as it would be started now
		if cmd, err := ad.Command(r.request(a), r.profile(a.route.Runtime)); err == nil {
			a.cmd.Env = cmd.Env
		}
	}
	r.dropPrivate(a)
	a.env = r.environment(a, ad)
	if err := r.furnishPrivately(a); err != nil {
		return err
	}
	if a.checkBox == nil { // its program had none here
		if err := r.confine(a, ad); err != nil {
			return err
		}
	}
	if a.box = nil; r.plan.Sandbox.Holds() {
		box := *a.checkBox
		box.Write = append(slices.Clone(box.Write), a.private.Path)
		a.box = &box
	}
	r.completeEnvironment(a, ad)
	return nil
}
