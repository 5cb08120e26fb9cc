// Package modelsim is a model service for tests: an HTTP server on 127.0.0.1 that
// speaks enough of Anthropic Messages, OpenAI Responses, OpenAI chat completions
// and Gemini generateContent for a coding agent to work with it, and answers from
// a scenario.
//
// A scenario is an ordered list of rules. The first rule that fits a request
// answers it with its steps: text, a tool call, a refusal by status, a hang, a
// stream that is cut. A rule may require that nonces known to the server are in
// the request; without them it answers with its `otherwise` steps. Every request
// is kept, so that a test can see what an agent really sent.
//
// Agents ask for more than their work: a title, which model to take. Such requests
// offer no tools or want JSON, and rules can tell them by that.
//
// The first segment of a request's path is its prefix. Rules may ask for one, so
// that several scenarios share a server.
package modelsim
