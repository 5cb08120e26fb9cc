package plugins_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// word is a constant of the program, or a field of one of its files, with what the
// source says of it.
type word struct{ name, value, about string }

func source(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", path), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// constants are those of a type whose names begin with prefix, in the order of the source.
func constants(t *testing.T, path, typ, prefix string) (all []word) {
	t.Helper()
	for _, decl := range source(t, path).Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			c := spec.(*ast.ValueSpec)
			if id, ok := c.Type.(*ast.Ident); !ok || id.Name != typ || !strings.HasPrefix(c.Names[0].Name, prefix) {
				continue
			}
			value, err := strconv.Unquote(c.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if value != "" {
				all = append(all, word{c.Names[0].Name, value, said(c.Names[0].Name, c.Doc, c.Comment)})
			}
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s: no constants of type %s", path, typ)
	}
	return all
}

// fields are those of a structure as JSON names them.
func fields(t *testing.T, path, structure string) (all []word) {
	t.Helper()
	ast.Inspect(source(t, path), func(n ast.Node) bool {
		decl, ok := n.(*ast.TypeSpec)
		if !ok || decl.Name.Name != structure {
			return true
		}
		for _, f := range decl.Type.(*ast.StructType).Fields.List {
			tag, err := strconv.Unquote(f.Tag.Value)
			if err != nil {
				t.Fatal(err)
			}
			name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
			all = append(all, word{f.Names[0].Name, name, said(f.Names[0].Name, f.Doc, f.Comment)})
		}
		return false
	})
	if len(all) == 0 {
		t.Fatalf("%s: no structure %s", path, structure)
	}
	return all
}

// said is what the comment beside a declaration says, else that above it, on one line and
// without the name with which such a comment begins.
func said(name string, above, beside *ast.CommentGroup) string {
	text := beside.Text()
	if text == "" {
		text = above.Text()
	}
	return strings.TrimPrefix(strings.Join(strings.Fields(text), " "), name+" ")
}

// meanings is a table of constants.
func meanings(t *testing.T, path, typ, head string) string {
	rows := [][]string{{head, "means"}}
	for _, c := range constants(t, path, typ, "") {
		rows = append(rows, []string{"`" + c.value + "`", c.about})
	}
	return table(rows)
}

// table is one of Markdown; the first row is its head.
func table(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		for _, cell := range row {
			b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
		}
	}
	return b.String()
}
