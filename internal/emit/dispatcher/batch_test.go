package dispatcher

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

func TestTensorsOnTwoDevicesAreALimit(t *testing.T) {
	x := contract.Param{Name: "x", Kind: contract.Tensor, Extents: make([]contract.Extent, 1)}
	at := contract.Param{Name: "at", Kind: contract.Tensor, CPU: true, Extents: make([]contract.Extent, 1)}
	number := contract.Param{Name: "by", Kind: contract.Tensor, CPU: true}
	count := contract.Param{Name: "n", Kind: contract.Int}
	cpu, gpu := contract.Device{Name: "kDLCPU"}, contract.Device{Name: "kDLCUDA"}
	limit := []string{"no torch.compile with tensors on a different device: at is on the CPU"}
	for name, test := range map[string]struct {
		args    []contract.Param
		devices []contract.Device
		want    []string
	}{
		"both":               {[]contract.Param{x, at, count}, []contract.Device{cpu, gpu}, limit},
		"no other device":    {[]contract.Param{x, at}, []contract.Device{cpu}, nil},
		"a tensor of rank 0": {[]contract.Param{x, number}, []contract.Device{gpu}, nil},
		"no other tensor":    {[]contract.Param{at, count}, []contract.Device{gpu}, nil},
		"no cpu argument":    {[]contract.Param{x, x}, []contract.Device{gpu}, nil},
	} {
		assert.Equal(t, test.want, onTwoDevices(&contract.Kernel{Args: test.args, Devices: test.devices}), name)
	}
}
