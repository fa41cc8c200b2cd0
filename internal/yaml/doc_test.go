package yaml_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

func TestTextsThatDocsMustNotContain(t *testing.T) {
	for doc, want := range map[string]string{
		"Adds / two * numbers?": "",
		"ends */ here":          "write it without /*, */ and backslashes",
		"begins /* here":        "write it without /*, */ and backslashes",
		`a \ line`:              "write it without /*, */ and backslashes",
		"why??/":                "write a single ?",
		"left \u202e right":     "remove them",
	} {
		diags := &diag.List{}
		read := yaml.Parse("k.yaml", []byte("doc:  "+doc), diags).Map("a kernel").Doc()
		assert.Equal(t, doc, read)
		hints := ""
		for _, d := range diags.Sorted() {
			assert.Equal(t, "invalid-doc", d.Code)
			assert.Equal(t, diag.Pos{File: "k.yaml", Line: 1, Col: 7}, d.Pos)
			hints += d.Hint
		}
		assert.Equal(t, want, hints, doc)
	}
}
