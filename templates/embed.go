// Package templates contains the sources of all emitted files: templates for the parts that depend
// on the spec, ordinary source files for all others. It renders nothing.
package templates

import (
	"embed"
	"sync"
)

// Files contains all sources, with a folder for each target:
//
//   - c: dlpack.h and the headers beside it;
//   - go: the run time of the Go bindings. The build constraint "ignore" keeps its Go and C files
//     out of every build of this repository, and their imports from go mod tidy;
//   - python: the base of extension modules for Python, in C;
//   - kernels: the kernels of a config, their checks and calls in C;
//   - cpp: the headers of C++, and templates for those that depend on the spec;
//   - torch: sources for libtorch, and a Python package that loads them;
//   - tvmffi: the kernels of a config as functions of tvm-ffi, in C and Python;
//   - torchshim: the kernels of a config as operators of PyTorch, in plain C, and their Python;
//   - device: the backends for devices: one interface in C, its implementations, templates for
//     the parts that depend on a backend's description, and a Go package;
//   - onnxruntime: the kernels of a config as custom operators of ONNX Runtime, in C;
//   - ufunc: the kernels of a config as generalized ufuncs of NumPy, in C and Python;
//   - hosts: the parts of the hosts' ABIs that callers use, in C;
//   - project: the starter files of a project of kernels for Python;
//   - jax: the kernels of a config as handlers of XLA, and the functions of JAX that call them;
//   - paddle: the kernels of a config as functions of PaddlePaddle, in Python, and checks in C;
//   - traced: the common part of callers for tracing hosts: checks of shapes and dtypes in Python;
//   - shm: memory of the host shared between processes: C, a Go package, a Python module.
//
//go:embed */[A-Za-z]* torch/__init__.py
var Files embed.FS

var texts sync.Map // by name

// Text returns one of the files. It is read once: a run on many configs uses each of them often.
func Text(name string) (string, error) {
	if known, ok := texts.Load(name); ok {
		return known.(string), nil //nolint:forcetypeassert // nothing else is stored
	}
	data, err := Files.ReadFile(name)
	if err != nil {
		return "", err
	}
	text := string(data)
	texts.Store(name, text)
	return text, nil
}
