package verify

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/layout"
)

// compiler is a C or C++ compiler with the flags of the request.
type compiler struct {
	command []string
	lang    layout.Lang
	header  string // absolute path
	shown   string // as the request names it
}

func newCompiler(req Request) (*compiler, error) {
	header, err := checkHeader(req.Header)
	if err != nil {
		return nil, err
	}
	command, err := findCompiler(req.CC, req.Lang)
	if err != nil {
		return nil, err
	}
	lang, err := language(req.Lang, command[0])
	if err != nil {
		return nil, err
	}
	if err := checkFlags(req.Flags); err != nil {
		return nil, err
	}
	command = slices.DeleteFunc(append(command, req.Flags...), splits)
	return &compiler{command: command, lang: lang, header: header, shown: req.Header}, nil
}

// splits matches flags that write debug information outside of the object. verify needs it in the
// object.
func splits(flag string) bool { return strings.HasPrefix(flag, "-gsplit-dwarf") }

// findCompiler splits a CC such as "ccache gcc", unless the whole text is the path of a program.
func findCompiler(cc, lang string) ([]string, error) {
	if strings.TrimSpace(cc) == "" {
		cc = map[bool]string{true: "c++", false: "cc"}[lang == "c++"]
	}
	command := []string{cc}
	if _, err := exec.LookPath(cc); err != nil {
		command = strings.Fields(cc)
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, cannot("verify-no-compiler", "cannot run the compiler "+command[0]+": "+reason(err),
			"--cc takes a compiler that is installed, such as gcc, g++ or clang")
	}
	if msvc[strings.ToLower(strings.TrimSuffix(filepath.Base(command[0]), ".exe"))] {
		return nil, cannot("verify-no-compiler",
			command[0]+" takes other flags than GCC and writes other debug information",
			"use clang with --target=x86_64-windows-msvc, which lays out structs in the same way")
	}
	return command, nil
}

var msvc = map[string]bool{"cl": true, "clang-cl": true}

// reason removes the name of the program, which the message already contains.
func reason(err error) string {
	var e *exec.Error
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

// cxxName matches names such as g++, clang++-16 and x86_64-w64-mingw32-g++.exe.
var cxxName = regexp.MustCompile(`\+\+(-[0-9.]+)?(\.exe)?$`)

func language(lang, program string) (layout.Lang, error) {
	switch {
	case lang == "c++", lang == "" && cxxName.MatchString(program):
		return layout.CXX, nil
	case lang == "c", lang == "":
		return layout.C, nil
	}
	return 0, cannot("usage", "unknown language "+strconv.Quote(lang), "--lang takes c or c++")
}

// checkFlags rejects flags that would write other files, or remove the positions.
func checkFlags(flags []string) error {
	for _, f := range flags {
		if f == "-P" {
			return cannot("usage", "the compiler flag -P drops the positions that verify needs", "omit it")
		}
		for _, bad := range []string{"-o", "-save-temps", "--save-temps", "-M", "-fdump-"} {
			if strings.HasPrefix(f, bad) {
				return cannot("usage", "the compiler flag "+f+" writes files, and verify writes none", "omit it")
			}
		}
	}
	return nil
}

// run returns the output of the compiler, and its messages if it fails. It runs in the current
// folder, to which the user's include paths are relative.
func (c *compiler) run(ctx context.Context, dir string, args ...string) (stdout []byte, messages string, err error) {
	cmd := exec.CommandContext(ctx, c.command[0], append(c.command[1:len(c.command):len(c.command)], args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TMPDIR="+dir, "TMP="+dir)
	cmd.WaitDelay = 10 * time.Second // it also runs after a normal end, and a busy machine is slow to copy
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.Bytes(), errs.String(), err
}

// common are the arguments of both runs. Warnings are off, because verify does not report them, and
// -Werror must not turn them into errors.
func (c *compiler) common(dir string) []string {
	lang := "c"
	if c.lang == layout.CXX {
		lang = "c++"
	}
	return []string{"-w", "-fno-lto", "-x", lang, "-include", filepath.Join(dir, beforeFile), "-include", c.header}
}

// message matches errors of GCC and clang.
var message = regexp.MustCompile(`(?m)^(.+?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$`)

// failed returns the error for a header that does not compile.
func (c *compiler) failed(messages string) *Error {
	e := cannot("verify-compile", c.shown+" does not compile as "+c.lang.String()+" with "+c.command[0],
		"pass include paths and the language standard after --, such as -- -I include -std=c11")
	const enough = 20
	for _, m := range message.FindAllStringSubmatch(messages, enough) {
		line, _ := strconv.Atoi(m[2])
		col, _ := strconv.Atoi(m[3])
		pos := diag.Pos{File: c.show(m[1]), Line: line, Col: max(col, 1)}
		e.Findings = append(e.Findings,
			diag.Diagnostic{Severity: diag.Error, Code: "verify-compile", Pos: pos, Text: m[4]})
	}
	if len(e.Findings) == 1 && strings.TrimSpace(messages) != "" {
		e.Findings[0].Text += ": " + strings.Join(strings.Fields(messages), " ")
	}
	return e
}

// show returns a path in the user's spelling.
func (c *compiler) show(path string) string {
	if path == c.header {
		return c.shown
	}
	return path
}
