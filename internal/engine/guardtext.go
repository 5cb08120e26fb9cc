package engine

import (
	"orchestrate/internal/secret"
	"orchestrate/internal/secret/detect"
)

// Guarded finds the secrets in a text that is about to be written down in the workspace at
// root, as a plan made there does before it has a spec to read: no folder is known yet that
// the spec works in besides.
func (e *Engine) Guarded(root, text string) ([]detect.Finding, error) {
	find, err := e.Guard(root)
	if err != nil {
		return nil, err
	}
	return find(text), nil
}

// Guard is Guarded for many texts.
func (e *Engine) Guard(root string) (find func(text string) []detect.Finding, err error) {
	found, _, err := secret.FromDotenv(root)
	if err != nil {
		return nil, err
	}
	d, err := detect.New(outsideOf(root, append(secret.FromEnv(e.Env), found...)), e.Operator.Secrets.Allow)
	if err != nil {
		return nil, err
	}
	return d.Find, nil
}
