// Command site builds the documentation site: the pages under docs/, and pages that it generates
// from the spec, the schema of configs and the command's help. MkDocs converts them to HTML.
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

// build renders every page in memory, writes them below out, and runs MkDocs.
func build(out string, pagesOnly bool) error {
	site, err := assemble(os.DirFS("."))
	if err != nil {
		return err
	}
	if err := site.write(out); err != nil || pagesOnly {
		return err
	}
	if err := render(out); err != nil {
		return err
	}
	fmt.Println(filepath.Join(out, "html", "index.html"))
	return nil
}

// render runs MkDocs over the pages below out. Its warnings, for example about links to unknown
// anchors, are errors; --quiet would hide them from --strict too.
func render(out string) error {
	program, err := filepath.Abs(mkdocs)
	if err != nil {
		return err
	}
	cmd := exec.Command(program, "build", "--strict", "--config-file", filepath.Join(out, "mkdocs.yml"))
	// The theme announces its successor on every run; the generator is pinned.
	cmd.Env = append(os.Environ(), "NO_MKDOCS_2_WARNING=1")
	if printed, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w (make setup installs it)\n%s", mkdocs, err, printed)
	}
	return nil
}
