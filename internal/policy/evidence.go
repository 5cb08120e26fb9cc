package policy

import (
	"fmt"
	"strings"

	"orchestrate/internal/runtime"
)

// operatorSays begins the source of what the operator's configuration states.
const operatorSays = "operator's configuration, "

// Judged is a profile with what policy says of the runtime with its default model.
func Judged(p runtime.Profile, op Operator) runtime.Profile {
	c, source := CapabilityOf(p, "", op)
	p.Capability, p.CapabilitySource = string(c), source
	p.Family, p.FamilySource = FamilyOf(p, "", op)
	return p
}

// CapabilityOf is the capability of a runtime with a model ("" = its default) and
// where that is known from: the operator's configuration, else the live model
// list, else what the probe has shown.
func CapabilityOf(p runtime.Profile, model string, op Operator) (Capability, string) {
	switch p.Kind {
	case runtime.KindExec:
		return NoCapability, "a plain program has no capability"
	case runtime.KindStandin:
		return Capability(p.Capability), p.CapabilitySource
	}
	model = modelOrDefault(p, model)
	if p.Kind == runtime.KindInternal {
		return hostedCapability(p, model, op)
	}
	if c, where := op.capability(p.Runtime, namesLive(p, model)); c != NoCapability {
		return c, operatorSays + where
	}
	if m, ok := p.ModelNamed(model); ok && len(m.Efforts) > 0 && p.Has(runtime.ControlEffort) {
		return C3, fmt.Sprintf("live model list: %s has a reasoning-depth control (%s)", model, strings.Join(m.Efforts, ", "))
	}
	if p.Has(runtime.ControlEditsOnly) || p.Has(runtime.ControlOSSandbox) {
		return C2, "live probe: headless, with tools and edits" + unanswered(p)
	}
	return C1, "nothing more was shown" + unanswered(p)
}

// unanswered says that the capability may be higher than could be shown.
func unanswered(p runtime.Profile) string {
	for _, e := range p.Evidence {
		if e.TimedOut {
			return fmt.Sprintf("; `%s` gave no answer in the probe's time, which might have shown more", e.Asked)
		}
	}
	return ""
}

// FamilyOf is the maker of the model that would answer and where that is known
// from. An unknown family is "", and proves nothing.
func FamilyOf(p runtime.Profile, model string, op Operator) (family, source string) {
	model = modelOrDefault(p, model)
	if p.Kind == runtime.KindInternal {
		return hostedFamily(p, model, op)
	}
	if f, where := op.family(p.Runtime, namesLive(p, model)); f != "" {
		return strings.ToLower(f), operatorSays + where
	}
	if p.Family != "" && !strings.HasPrefix(p.FamilySource, operatorSays) { // that was of the default model
		return strings.ToLower(p.Family), p.FamilySource
	}
	return "", "unknown"
}

// FamilyThatAnswered is the maker of the model that answered an attempt: that of its
// route, unless another model answered than the one it was routed to.
func FamilyThatAnswered(p runtime.Profile, model, routed, observed string, op Operator) string {
	wanted := modelOrDefault(p, model)
	if observed == "" || wanted != "" && PinHolds(wanted, observed, p.Models) {
		return routed
	}
	family, _ := FamilyOf(p, observed, op)
	return family
}

// modelOrDefault names the model that answers when none is asked for.
func modelOrDefault(p runtime.Profile, model string) string {
	if model != "" {
		return model
	}
	if p.DefaultModel != "" {
		return p.DefaultModel
	}
	for _, m := range p.Models {
		if m.Default {
			return m.ID
		}
	}
	return ""
}

// namesLive is a model's name on the command line and what it stands for today.
func namesLive(p runtime.Profile, model string) []string {
	if m, ok := p.ModelNamed(model); ok {
		return []string{model, m.ID, m.Resolved}
	}
	return []string{model}
}
