package policy

// OperatorStarter is a commented configuration in which nothing is set.
func OperatorStarter() []byte { return []byte(operatorStarter) }

const operatorStarter = `# What the owner of this machine says about runtimes. A job spec cannot set any of this.
# Everything is optional; what is not said here is found out by asking the runtimes.

# Runtimes that jobs without a runtime of their own may be given to.
# Left out: every runtime that is installed and signed in.
# enabled: [claude, codex]

# What you know about a runtime, or about one of its models, that it does not say itself.
# capability: C1 (throughput), C2 (delivery) or C3 (judgment: review, architecture, arbiter).
# family: the maker of the model, so that a review by another maker can be recognised.
# model: for jobs that name none; left out, the runtime's own default.
# runtimes:
#   claude:
#     model: NAME
#     capability: C3
#     family: NAME
#     models:
#       NAME: {capability: C2, family: NAME}

# Findings of the secret detector that are no secrets, by the fingerprint it printed.
# secrets:
#   allow: ["rule:0123456789abcdef"]

# Where worktrees are made instead of the run directory; absolute, or below ~/.
# worktree_root: ~/worktrees
`
