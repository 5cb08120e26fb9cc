package custom

// Definition describes one program.
type Definition struct {
	// Argv starts it: the program, a plain name, absolute or beginning with ~/, and
	// the words that every job gets.
	Argv []string `yaml:"argv"`
	// Prompt is how it gets its work: stdin (the default), file or arg.
	Prompt string `yaml:"prompt"`
	// PromptFlag goes before the file or the argument; one that ends in = is joined.
	PromptFlag string `yaml:"prompt_flag"`
	// Output is what it prints: text, json-last-line, stream-json (as claude does) or
	// acp (the Agent Client Protocol).
	Output string `yaml:"output"`
	// Mode is the session mode that an acp agent is to work in, by its id in the
	// agent's own list; "" = the one that it begins in.
	Mode string `yaml:"mode"`
	// Completion is what says that it has done its work: exit-zero, or FIELD=VALUE of
	// the last line. Text is always exit-zero; stream-json and acp have their own.
	Completion string `yaml:"completion"`

	// Dotted paths into the JSON of its lines.
	Answer  string  `yaml:"answer"`
	Session string  `yaml:"session"`
	Model   string  `yaml:"answered_by"` // the model that answered
	Usage   Usage   `yaml:"usage"`
	Error   string  `yaml:"error"` // what went wrong, where the work is not done
	Refused Refused `yaml:"refused"`

	// Words that are added for what a job asks for; {session}, {model} and {effort}
	// stand for the value.
	ResumeArgs   []string `yaml:"resume"`
	ModelArgs    []string `yaml:"model"`
	EffortArgs   []string `yaml:"effort"`
	Efforts      []string `yaml:"efforts"`   // that it takes
	ReadOnlyArgs []string `yaml:"read_only"` // make it unable to write or run commands
	Models       *List    `yaml:"model_list"`

	// State are the folders that it writes beside the one that it works in; the sandbox
	// lets it. Starts that share some are spaced.
	State []string `yaml:"state"`
	// Credentials are files and folders with its sign-in; other runtimes may not read them.
	Credentials []string          `yaml:"credentials"`
	Env         []string          `yaml:"env"`  // variables that are passed to it
	Set         map[string]string `yaml:"set"`  // variables that it always gets
	Stop        string            `yaml:"stop"` // INT, TERM, TERM-GROUP (the default) or none
	// ApprovesAll says that without a terminal it does whatever its model asks for, so
	// that only a sandbox holds it.
	ApprovesAll bool `yaml:"approves_all"`

	Version  *Version  `yaml:"version"`
	Help     []string  `yaml:"help"` // words that make it print its help
	Identity *Identity `yaml:"identity"`
	SignIn   *SignIn   `yaml:"sign_in"`

	Install       string   `yaml:"install"`         // what a person types to install it
	SignInCommand string   `yaml:"sign_in_command"` // … and to sign in
	Limits        []string `yaml:"limits"`          // what else a person should know
}

// Usage says where the counts of a finished job are in its last line.
type Usage struct {
	Input  string `yaml:"input"`
	Output string `yaml:"output"`
	Cost   string `yaml:"cost"`
}

// Refused recognizes a line that reports a tool that was refused: its Field contains
// Contains. Tool is the field that names the tool.
type Refused struct {
	Field    string `yaml:"field"`
	Contains string `yaml:"contains"`
	Tool     string `yaml:"tool"`
}

// Version says how the version is asked for.
type Version struct {
	Args []string `yaml:"args"`
	Form string   `yaml:"form"` // of the first line; its first group is the version
}

// Identity says what tells the program from another one of the same name.
type Identity struct {
	Args     []string `yaml:"args"`
	Contains string   `yaml:"contains"`
}

// SignIn says how to learn whether somebody is signed in, without a model call.
type SignIn struct {
	// Env are variables of which one must be set before the program is asked or
	// started at all.
	Env  []string `yaml:"env"`
	Args []string `yaml:"args"` // of its status command
	Out  string   `yaml:"out"`  // what it says, as a regular expression, when nobody is
	OK   string   `yaml:"ok"`   // … when somebody is
	Exit bool     `yaml:"exit"` // its exit status says it: 0 is signed in
	// Session: a session that opens shows that somebody is signed in (acp).
	Session bool `yaml:"session"`
}

// List says how the models are asked for.
type List struct {
	Args []string `yaml:"args"`
	JSON string   `yaml:"json"` // dotted path of the list in what is printed, "." = the whole; "" = one model a line
	Key  string   `yaml:"key"`  // of a member that is an object
}

// Values of Prompt, Output, Completion and Stop.
const (
	promptStdin = "stdin"
	promptFile  = "file"
	promptArg   = "arg"

	outputText     = "text"
	outputLastLine = "json-last-line"
	outputStream   = "stream-json"
	outputACP      = "acp"

	exitZero = "exit-zero"

	stopGroup = "TERM-GROUP"
	stopNone  = "none"
)

// placeholders stand for a value in words that are added.
const (
	sessionHere = "{session}"
	modelHere   = "{model}"
	effortHere  = "{effort}"
)
