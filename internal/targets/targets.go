// Package targets contains the table of all targets. The packages under internal/emit render them.
package targets

import (
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/c"
	"github.com/dlpackgen/dlpackgen/internal/emit/cpp"
	"github.com/dlpackgen/dlpackgen/internal/emit/device"
	"github.com/dlpackgen/dlpackgen/internal/emit/golang"
	"github.com/dlpackgen/dlpackgen/internal/emit/jax"
	"github.com/dlpackgen/dlpackgen/internal/emit/kernels"
	"github.com/dlpackgen/dlpackgen/internal/emit/onnxruntime"
	"github.com/dlpackgen/dlpackgen/internal/emit/paddle"
	"github.com/dlpackgen/dlpackgen/internal/emit/python"
	"github.com/dlpackgen/dlpackgen/internal/emit/shm"
	"github.com/dlpackgen/dlpackgen/internal/emit/templated"
	"github.com/dlpackgen/dlpackgen/internal/emit/torch"
	"github.com/dlpackgen/dlpackgen/internal/emit/torchshim"
	"github.com/dlpackgen/dlpackgen/internal/emit/tvmffi"
	"github.com/dlpackgen/dlpackgen/internal/emit/ufunc"
)

// Table returns every target, in the order in which they are rendered and listed.
func Table() emit.Table {
	return emit.Table{Rows: All(), Vendor: device.Vendor, Templated: templated.Target, CheckName: templated.CheckName}
}

// All returns every target, in the order in which they are rendered and listed.
func All() []emit.Target {
	return []emit.Target{c.Target, golang.Target, cpp.Target, python.Target, kernels.Target, torch.Target,
		torchshim.Target, jax.Target, tvmffi.Target, onnxruntime.Target, ufunc.Target, paddle.Target,
		golang.Library, device.Shared,
		device.CUDA, device.ROCm, device.OneAPI, shm.Target}
}

// Names returns the name of every target, in the same order.
func Names() []string { return Table().Names() }
