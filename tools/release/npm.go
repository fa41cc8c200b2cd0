package main

import (
	"embed"
	"encoding/json"
	"slices"
)

//go:embed npm
var npmSources embed.FS

// packageJSON is the metadata that npm reads.
type packageJSON struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	License     string            `json:"license"`
	Homepage    string            `json:"homepage"`
	Repository  map[string]string `json:"repository"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	Main        string            `json:"main,omitempty"`
	Types       string            `json:"types,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
	Unplugged   bool              `json:"preferUnplugged"` // Yarn must unpack it
}

// npmPackages builds a package for each program, and a package with all of them as optional
// dependencies, like esbuild: npm installs the one for its system. A user downloads only one
// program, and no script runs at installation, which many users forbid.
func (r *release) npmPackages(binaries []binary, s *shared) (out []file, err error) {
	sources, err := subtree(npmSources, "npm")
	if err != nil {
		return nil, err
	}
	for i, f := range sources {
		if f.path == "bin/dlpackgen.js" {
			sources[i].mode = 0o755
		}
	}
	main := r.npmPackage("dlpackgen")
	main.Bin, main.Main, main.Types = map[string]string{"dlpackgen": "bin/dlpackgen.js"}, "index.js", "index.d.ts"
	main.Engines, main.Optional = map[string]string{"node": ">=18"}, map[string]string{}
	for _, p := range platforms {
		system, cpu := p.npm()
		main.Optional["@dlpackgen/"+system+"-"+cpu] = r.version
	}
	files := slices.Concat(sources, below("include", s.include), []file{s.readme}, s.licences)
	packed, err := r.npmTarball("dlpackgen", main, files)
	if err != nil {
		return nil, err
	}
	out = append(out, packed)
	for _, b := range binaries {
		system, cpu := b.npm()
		p := r.npmPackage("@dlpackgen/" + system + "-" + cpu)
		p.OS, p.CPU = []string{system}, []string{cpu}
		files := append([]file{program("bin/"+b.program(), b.data)}, s.licences...)
		packed, err := r.npmTarball("dlpackgen-"+system+"-"+cpu, p, files)
		if err != nil {
			return nil, err
		}
		out = append(out, packed)
	}
	return out, nil
}

// npm returns Node's names of a platform.
func (p platform) npm() (system, cpu string) {
	system, cpu = p.os, p.arch
	if system == "windows" {
		system = "win32"
	}
	if cpu == "amd64" {
		cpu = "x64"
	}
	return system, cpu
}

func (r *release) npmPackage(name string) packageJSON {
	return packageJSON{Name: name, Version: r.version, Description: summary, License: "Apache-2.0", Homepage: homepage,
		Repository: map[string]string{"type": "git", "url": "git+" + homepage + ".git"}, Unplugged: true}
}

// npmTarball packs files in the form of npm publish, under the name of npm pack.
func (r *release) npmTarball(name string, about packageJSON, files []file) (file, error) {
	data, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return file{}, err
	}
	packed, err := tarball(r.when, below("package", append(files, file{path: "package.json", data: data})))
	return file{path: name + "-" + r.version + ".tgz", data: packed}, err
}
