package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"os/exec"
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

// below moves files into a folder.
func below(dir string, files []file) (out []file) {
	for _, f := range files {
		out = append(out, file{path.Join(dir, f.path), f.data, f.mode})
	}
	return out
}

// sorted orders files by path, so that archives are deterministic.
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

// withFolders adds the folders of files, and prefixes all paths with ./, as dpkg expects.
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

// deflater compresses data to a raw deflate stream.
type deflater func(data []byte) ([]byte, error)

// deflate is Go's compressor.
func deflate(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// zopfli runs the program of that name, whose streams are a twentieth smaller. It takes 20 seconds
// for a binary.
func zopfli(data []byte) ([]byte, error) {
	in, err := os.CreateTemp("", "dlpackgen-zopfli-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(in.Name())
	_, err = in.Write(data)
	if err := errors.Join(err, in.Close()); err != nil {
		return nil, err
	}
	text, err := output("", nil, "zopfli", "--i5", "--deflate", "-c", in.Name())
	if errors.Is(err, exec.ErrNotFound) {
		err = errors.New(
			"wheels are compressed by zopfli, which is not installed (Debian: zopfli); -quick does without")
	}
	return []byte(text), err
}

// largeFile is the size from which the slower compressor is used.
const largeFile = 16 << 10

// zipped packs files in the given order, large ones with another compressor.
func zipped(when time.Time, files []file, large deflater) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		compress := deflate
		if len(f.data) >= largeFile {
			compress = large
		}
		data, err := compress(f.data)
		if err != nil {
			return nil, err
		}
		header := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: when, CRC32: crc32.ChecksumIEEE(f.data),
			CompressedSize64: uint64(len(data)), UncompressedSize64: uint64(len(f.data))}
		header.SetMode(f.perm())
		to, err := w.CreateRaw(header)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(data); err != nil {
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

// sums is the input of sha256sum -c.
func sums(files []file) file {
	var b strings.Builder
	for _, f := range sorted(files) {
		fmt.Fprintf(&b, "%s  %s\n", sha256Hex(f.data), f.path)
	}
	return file{path: "SHA256SUMS", data: []byte(b.String())}
}
