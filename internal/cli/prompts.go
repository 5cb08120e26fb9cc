package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"orchestrate/internal/prompts"
)

type promptsOptions struct {
	name string // "" = list them
	json bool
}

// promptView is a template as --json prints it.
type promptView struct {
	Name      string   `json:"name"`
	Use       string   `json:"use"`
	Variables []string `json:"variables"`      // in the text as {{name}}
	Text      string   `json:"text,omitempty"` // absent in the list
}

func newPrompts(sys System) *cobra.Command {
	opts := promptsOptions{}
	cmd := &cobra.Command{
		Use:   "prompts [NAME]",
		Short: "List the prompt templates, or print one",
		Long: `List the prompt templates, or print the one called NAME as it stands. What is between
{{ }} is to be filled in. The same texts are used by the program itself, where the list
says so; what you print is a copy that is yours to change.`,
		Args: atMostOne("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			opts.name = strings.Join(args, "")
			return runPrompts(sys, opts)
		},
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

// atMostOne is the check of a command whose only argument may be left out.
func atMostOne(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return exactArgs(name)(cmd, args)
		}
		return nil
	}
}

func runPrompts(sys System, opts promptsOptions) error {
	if opts.name != "" {
		return printPrompt(sys.Out, opts)
	}
	var all []promptView
	for _, tmpl := range prompts.All() {
		v, err := viewOf(tmpl)
		if err != nil {
			return failure(err)
		}
		v.Text = ""
		all = append(all, v)
	}
	if opts.json {
		return json.NewEncoder(sys.Out).Encode(map[string]any{"schemaVersion": 1, "prompts": all})
	}
	t := tabwriter.NewWriter(sys.Out, 0, 4, 2, ' ', 0)
	for _, v := range all {
		fmt.Fprintf(t, "%s\t%s\n", v.Name, v.Use)
	}
	return t.Flush()
}

func printPrompt(w io.Writer, opts promptsOptions) error {
	for _, tmpl := range prompts.All() {
		if tmpl.Name != opts.name {
			continue
		}
		v, err := viewOf(tmpl)
		if err != nil {
			return failure(err)
		}
		if opts.json {
			return json.NewEncoder(w).Encode(struct {
				SchemaVersion int `json:"schemaVersion"`
				promptView
			}{1, v})
		}
		_, err = io.WriteString(w, strings.TrimRight(v.Text, "\n")+"\n")
		return err
	}
	_, err := prompts.Text(opts.name) // which says what was probably meant
	return usageError(err)
}

func viewOf(tmpl prompts.Template) (promptView, error) {
	text, err := prompts.Text(tmpl.Name)
	return promptView{Name: tmpl.Name, Use: tmpl.Use, Variables: append([]string{}, prompts.Variables(text)...), Text: text}, err
}
