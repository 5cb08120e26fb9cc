// Package prompts holds the prompt templates: for a worker, its verifier, who mends what a
// verifier found, a synthesis, and the planner. People print and adapt them; patterns of
// jobs fill them in.
package prompts
