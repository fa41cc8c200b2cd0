package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/tier"
	"github.com/dlpackgen/dlpackgen/internal/tree"
)

// TestMain lets the scripts run the command itself as a separate process.
func TestMain(m *testing.M) {
	testscript.Main(tier.Tests{M: m}, map[string]func(){"dlpackgen": func() {
		pretend(os.Getenv("DLPACKGEN_TEST_VERSION"), os.Getenv("DLPACKGEN_TEST_DIGEST"))
		main()
	}})
}

// pretend makes this process another build of the tool. An empty version or digest is that of this
// build.
func pretend(version, digest string) {
	own := self
	self = func() tree.Tool {
		if version != "" && digest != "" {
			return tree.Tool{Version: version, Digest: digest}
		}
		is := own()
		return tree.Tool{Version: cmp.Or(version, is.Version), Digest: cmp.Or(digest, is.Digest)}
	}
}

// TestScript runs testdata/script. Each script begins with the behaviour that it tests. A script
// whose optional tool is missing is skipped with a message.
func TestScript(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	is := self() // computed once, instead of in each of 800 processes
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("ROOT", root)
			env.Setenv("LATEST", spec.Embedded().Latest())
			env.Setenv("DLPACKGEN_TEST_VERSION", is.Version)
			env.Setenv("DLPACKGEN_TEST_DIGEST", is.Digest)
			env.Setenv("NO_COLOR", "")
			env.Setenv("TERM", "xterm")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "bytes": writeBytes, "age": age, "aged": aged, "valid": valid, "eol": eol,
			"made": made, "drop": drop,
		},
	})
}

// exits runs a command that must end with an exit code: exits CODE PROGRAM ARG...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG ...]")
	}
	code := 0
	var failed *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &failed) {
		code = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if want := args[0]; strconv.Itoa(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
}

// writeBytes fills a file with text that txtar cannot contain: bytes FILE COUNT TEXT, where TEXT
// has Go's escapes.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: bytes FILE COUNT TEXT")
	}
	count, err := strconv.Atoi(args[1])
	ts.Check(err)
	text, err := strconv.Unquote(`"` + args[2] + `"`)
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	ts.Check(err)
	_, err = f.WriteString(strings.Repeat(text, count))
	ts.Check(errors.Join(err, f.Close()))
}

// longAgo is a modification time that no new file has.
var longAgo = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)

// age sets an old modification time on files: age FILE...
func age(ts *testscript.TestScript, neg bool, args []string) {
	for _, file := range args {
		ts.Check(os.Chtimes(ts.MkAbs(file), longAgo, longAgo))
	}
}

// aged checks that files still have the old modification time: [!] aged FILE...
func aged(ts *testscript.TestScript, neg bool, args []string) {
	for _, file := range args {
		info, err := os.Stat(ts.MkAbs(file))
		ts.Check(err)
		if info.ModTime().Equal(longAgo) == neg {
			ts.Fatalf("%s has the time %s", file, info.ModTime())
		}
	}
}

// valid checks a JSON document against docs/schema: valid SCHEMA FILE
func valid(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: valid SCHEMA FILE")
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(ts.Getenv("ROOT"), "docs", "schema", args[0]))
	ts.Check(err)
	var doc any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &doc))
	ts.Check(schema.Validate(doc))
}

// eol converts the line ends of files to CRLF: eol FILE...
func eol(ts *testscript.TestScript, neg bool, args []string) {
	for _, file := range args {
		text := []byte(ts.ReadFile(file))
		ts.Check(os.WriteFile(ts.MkAbs(file), bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")), 0o666))
	}
}

// drop removes the lines of a file that end in a text: drop FILE TEXT
func drop(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: drop FILE TEXT")
	}
	text := ts.ReadFile(args[0])
	lines := slices.DeleteFunc(slices.Collect(strings.Lines(text)), func(line string) bool {
		return strings.HasSuffix(strings.TrimSpace(line), args[1])
	})
	if strings.Join(lines, "") == text {
		ts.Fatalf("no line of %s ends in %s", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(lines, "")), 0o666))
}

// made compares the first column of a list with the files of a folder: made LIST DIR
func made(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: made LIST DIR")
	}
	var listed, found []string
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		name, _, _ := strings.Cut(line, "\t")
		listed = append(listed, name)
	}
	ts.Check(filepath.WalkDir(ts.MkAbs(args[1]), func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, err = filepath.Rel(ts.MkAbs("."), name)
			found = append(found, filepath.ToSlash(name))
		}
		return err
	}))
	slices.Sort(listed)
	slices.Sort(found)
	if !slices.Equal(listed, found) {
		ts.Fatalf("listed:\n%s\nfound:\n%s", strings.Join(listed, "\n"), strings.Join(found, "\n"))
	}
}
