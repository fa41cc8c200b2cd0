package abi

import (
	"testing"

	"github.com/dlpackgen/dlpackgen/internal/draw"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/layout"
)

// The tables are for C. C++ differs only under short enums, where it fixes the width of
// DLDeviceType from 0.7 on.
func TestGoldenTables(t *testing.T) {
	var owned []string
	for _, version := range versions() {
		var tables []*layout.Table
		for _, m := range layout.Models() {
			tables = append(tables, layout.Of(release(t, version), m, layout.C))
		}
		name := "abi/" + version + ".txt"
		golden.Assert(t, name, []byte(draw.Text(tables, nil)))
		owned = append(owned, name)
	}
	golden.Orphans(t, "abi", owned)
}
