// Package jsontext renders the JSON documents that the command prints, all in one form: indented,
// with < and & as they are, and a line break at the end. It knows no document.
package jsontext

import (
	"bytes"
	"encoding/json"
)

// Of renders a document of texts, numbers, lists and mappings with text keys; nothing else is one.
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
