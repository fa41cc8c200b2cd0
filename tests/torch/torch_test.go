package torch

import "testing"

// scripts are those of this folder that run in one process.
var scripts = []string{"table.py", "give.py", "consume.py"}

// Each script holds one side of the package against torch.
func TestTheTableAndTheConsumer(t *testing.T) {
	to, dir := modules(t)
	for _, name := range scripts {
		t.Run(name, func(t *testing.T) { passes(t, to, dir, nil, name) })
	}
}
