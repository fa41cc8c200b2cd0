package main

import "slices"

// archives packs each program with its manual, completions and licences.
func (r *release) archives(binaries []binary, s *shared) (out []file, err error) {
	for _, b := range binaries {
		name := "dlpackgen_" + r.version + "_" + b.os + "_" + b.arch
		files := below(name, slices.Concat([]file{program(b.program(), b.data), s.readme}, s.licences,
			below("man/man1", s.manual), below("completions", s.scripts()), below("cmake", s.cmake)))
		var data []byte
		if b.os == "windows" {
			name += ".zip"
			data, err = zipped(r.when, sorted(files), deflate)
		} else {
			name += ".tar.gz"
			data, err = tarball(r.when, files)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, file{path: name, data: data})
	}
	return out, nil
}

// scripts returns completion scripts under the names that shells look for.
func (s *shared) scripts() []file {
	return []file{
		{path: "dlpackgen.bash", data: s.shells["bash"]}, {path: "_dlpackgen", data: s.shells["zsh"]},
		{path: "dlpackgen.fish", data: s.shells["fish"]}, {path: "dlpackgen.ps1", data: s.shells["powershell"]},
	}
}
