package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// shared is what the packages of all platforms hold.
type shared struct {
	licences []file // of the tool, of its output, and of the modules that are linked
	readme   file
	manual   []file            // man pages
	shells   map[string][]byte // completion scripts
	include  []file            // the headers of targets c, cpp and python, of the newest release
	cmake    []file            // the package for CMake, which finds the program beside it
	modules  []linked
}

func (r *release) common(binaries []binary) (*shared, error) {
	modules, err := r.linkedModules(binaries)
	if err != nil {
		return nil, err
	}
	s := &shared{modules: modules, shells: map[string][]byte{}}
	for _, name := range []string{"LICENSE", "LICENSE-OUTPUT"} {
		data, err := os.ReadFile(r.source(name))
		if err != nil {
			return nil, err
		}
		s.licences = append(s.licences, file{path: name, data: data})
	}
	s.licences = append(s.licences, thirdParty(modules))
	text, err := os.ReadFile(r.source("README.md"))
	if err != nil {
		return nil, err
	}
	s.readme = file{path: "README.md", data: absoluteLinks(text, r.tag())}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		script, err := output(r.tmp, nil, r.tool, "completion", shell)
		if err != nil {
			return nil, err
		}
		s.shells[shell] = []byte(script)
	}
	if s.manual, err = r.manPages(); err != nil {
		return nil, err
	}
	if s.cmake, err = readTree(os.DirFS(r.source("cmake"))); err != nil {
		return nil, err
	}
	s.include, err = r.headers()
	return s, err
}

// relativeLink is a link of Markdown to a file of the repository.
var relativeLink = regexp.MustCompile(`\]\(([^)\s:#][^)\s:]*)\)`)

// absoluteLinks lets links to files of the repository work from a package and a registry's page.
func absoluteLinks(page []byte, tag string) []byte {
	return relativeLink.ReplaceAll(page, []byte("]("+homepage+"/blob/"+tag+"/$1)"))
}

// source is the path of a file of the module.
func (r *release) source(name string) string {
	return filepath.Join(r.modules(), modulePath+"@"+r.tag(), filepath.FromSlash(name))
}

// headersConfig has the targets whose headers a build includes.
const headersConfig = "version: 1\ntargets:\n  c: {path: include}\n  cpp: {path: include}\n  python: {path: include}\n"

// headers generates the headers that packages for Python and npm hold.
func (r *release) headers() ([]file, error) {
	dir := filepath.Join(r.tmp, "headers")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "dlpackgen.yaml"), []byte(headersConfig), 0o644); err != nil {
		return nil, err
	}
	if _, err := output(dir, nil, r.tool, "generate", "--quiet"); err != nil {
		return nil, err
	}
	return readTree(os.DirFS(filepath.Join(dir, "include")))
}

// readTree gives all files of a folder.
func readTree(tree fs.FS) (files []file, err error) {
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		files = append(files, file{path: name, data: data})
		return err
	})
	return files, err
}

// commandHelp is what dlpackgen help --format json prints.
type commandHelp struct {
	Use, Short, Long, Example string
	Flags                     []struct{ Name, Shorthand, Type, Default, Usage string }
	Commands                  []commandHelp
}

// manPages makes a page for each command.
func (r *release) manPages() ([]file, error) {
	text, err := output(r.tmp, nil, r.tool, "help", "--format", "json")
	if err != nil {
		return nil, err
	}
	var root commandHelp
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		return nil, fmt.Errorf("dlpackgen help --format json: %w", err)
	}
	dir := filepath.Join(r.tmp, "man")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	header := &doc.GenManHeader{Section: "1", Date: &r.when, Source: "dlpackgen " + r.version, Manual: "dlpackgen"}
	if err := doc.GenManTree(root.command(), header, dir); err != nil {
		return nil, err
	}
	return readTree(os.DirFS(dir))
}

// command is the help as cobra knows it.
func (h commandHelp) command() *cobra.Command {
	c := &cobra.Command{Use: h.Use, Short: h.Short, Long: h.Long, Example: h.Example, DisableAutoGenTag: true,
		Run: func(*cobra.Command, []string) {}}
	c.CompletionOptions.DisableDefaultCmd = true
	c.SetHelpCommand(&cobra.Command{Hidden: true})
	for _, f := range h.Flags {
		added := c.Flags().VarPF(word{f.Type}, f.Name, f.Shorthand, strings.ReplaceAll(f.Usage, "`", ""))
		added.DefValue = f.Default
		if f.Type == "bool" {
			added.NoOptDefVal = "true"
		}
	}
	for _, sub := range h.Commands {
		c.AddCommand(sub.command())
	}
	return c
}

// word is the value of a flag that is described and never set.
type word struct{ kind string }

var _ pflag.Value = word{}

func (w word) String() string   { return "" }
func (w word) Type() string     { return w.kind }
func (w word) Set(string) error { return nil }
