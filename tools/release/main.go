// Command release builds all published files of a version, from the checked-out commit: binaries
// for six platforms, archives, Python wheels, npm packages, Debian packages, checksums, an SBOM and
// a provenance statement. The same commit and Go version result in the same bytes in every folder.
// It publishes nothing.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	out := flag.String("out", "bin/release", "the `FOLDER` to write to, which is emptied first")
	root := flag.String("root", ".", "the `FOLDER` of the checkout")
	only := flag.String("platforms", strings.Join(names(platforms), ","), "the platforms, separated by commas")
	quick := flag.Bool("quick", false, "build and compress fast, for tests: wheels are a fifth larger")
	proxy := flag.String("proxy", "", "a `FOLDER` to write the module to, as a module proxy serves it, for tests")
	flag.Parse()
	if err := run(*root, *out, *proxy, strings.Split(*only, ","), *quick); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run builds every file in memory before it changes the output folder.
func run(root, out, proxy string, only []string, quick bool) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "dlpackgen-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	r, err := prepare(root, tmp, quick)
	if err != nil {
		return err
	}
	files, err := r.files(chosen)
	if err != nil {
		return err
	}
	if proxy != "" {
		if err := os.CopyFS(proxy, os.DirFS(r.proxy())); err != nil {
			return err
		}
	}
	return write(out, files)
}

// files returns all published files, checksums last.
func (r *release) files(chosen []platform) ([]file, error) {
	binaries, err := r.build(chosen)
	if err != nil {
		return nil, err
	}
	common, err := r.common(binaries)
	if err != nil {
		return nil, err
	}
	var all []file
	for _, make := range []func([]binary, *shared) ([]file, error){
		r.archives, r.wheels, r.npmPackages, r.debianPackages, r.sbom,
	} {
		made, err := make(binaries, common)
		if err != nil {
			return nil, err
		}
		all = append(all, made...)
	}
	statement, err := r.provenance(all, common.modules)
	if err != nil {
		return nil, err
	}
	all = append(all, statement)
	return append(all, sums(all)), nil
}

// write replaces the output folder.
func write(out string, files []file) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(out, f.path), f.data, 0o644); err != nil {
			return err
		}
		fmt.Printf("%9d  %s\n", len(f.data), f.path)
	}
	return nil
}
