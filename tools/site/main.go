// Command site builds the documentation site: the pages under docs/, and those that it makes from
// the spec, the schema of configs and the command's own help. MkDocs turns them into HTML.
//
//	go run ./tools/site          write .cache/site/html
//	go run ./tools/site -pages   stop before MkDocs, with the Markdown in .cache/site/docs
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// mkdocs is the program that tools/setup.sh installs.
const mkdocs = ".cache/docs/bin/mkdocs"

func main() {
	out := flag.String("out", ".cache/site", "the `FOLDER` of the site: docs, mkdocs.yml and html")
	pagesOnly := flag.Bool("pages", false, "write the pages, and do not run MkDocs")
	flag.Parse()
	if err := build(*out, *pagesOnly); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// build makes every page in memory, writes them below out, and renders them.
func build(out string, pagesOnly bool) error {
	site, err := assemble(os.DirFS("."))
	if err != nil {
		return err
	}
	if err := site.write(out); err != nil || pagesOnly {
		return err
	}
	program, err := filepath.Abs(mkdocs)
	if err != nil {
		return err
	}
	cmd := exec.Command(program, "build", "--strict", "--quiet", "--config-file", filepath.Join(out, "mkdocs.yml"))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	// The theme announces its successor on every run; the generator is pinned.
	cmd.Env = append(os.Environ(), "NO_MKDOCS_2_WARNING=1")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w (make setup installs it)", mkdocs, err)
	}
	fmt.Println(filepath.Join(out, "html", "index.html"))
	return nil
}
