// Package jsontext renders the JSON documents that the command prints in one form: indented,
// without escapes of < and &, and with a line break at the end.
package jsontext

import (
	"bytes"
	"encoding/json"
)

// Of renders a document, which consists of texts, numbers, lists and mappings with text keys.
func Of(document any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(document); err != nil {
		panic("unreachable: documents hold texts and numbers: " + err.Error())
	}
	return out.Bytes()
}
