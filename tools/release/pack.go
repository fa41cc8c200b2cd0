package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// file is a file in memory, to be written or packed.
type file struct {
	path string
	data []byte
	mode fs.FileMode // 0 is 0644
}

func (f file) perm() fs.FileMode {
	if f.mode == 0 {
		return 0o644
	}
	return f.mode
}

// program is an executable file.
func program(name string, data []byte) file { return file{name, data, 0o755} }

// below puts files into a folder.
func below(dir string, files []file) (out []file) {
	for _, f := range files {
		out = append(out, file{path.Join(dir, f.path), f.data, f.mode})
	}
	return out
}

// sorted orders files by path, so that archives have one order.
func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return strings.Compare(a.path, b.path) })
}

// tarball packs files, all with one time.
func tarball(when time.Time, files []file) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range sorted(files) {
		header := &tar.Header{Name: f.path, Mode: int64(f.perm()), Size: int64(len(f.data)), ModTime: when}
		if strings.HasSuffix(f.path, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return compress(out.Bytes()), err
}

// withFolders adds the folders of files, and puts all below ./, as dpkg has it.
func withFolders(files []file) (out []file) {
	seen := map[string]bool{}
	for _, f := range files {
		out = append(out, file{"./" + f.path, f.data, f.mode})
		for dir := path.Dir(f.path); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			out = append(out, file{"./" + strings.TrimPrefix(dir+"/", "./"), nil, 0o755})
		}
	}
	return out
}

// compress is gzip -9n.
func compress(data []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("unreachable: a buffer takes every byte: " + err.Error())
	}
	return out.Bytes()
}

// zipped packs files in the order given.
func zipped(when time.Time, files []file) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(to, flate.BestCompression)
	})
	for _, f := range files {
		header := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: when}
		header.SetMode(f.perm())
		to, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

func sha256Hex(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// sums is what sha256sum -c reads.
func sums(files []file) file {
	var b strings.Builder
	for _, f := range sorted(files) {
		fmt.Fprintf(&b, "%s  %s\n", sha256Hex(f.data), f.path)
	}
	return file{path: "SHA256SUMS", data: []byte(b.String())}
}
