//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import "errors"

// Further kinds of errors, of exchange tables.
var (
	ErrTable = errors.New("dlpack: no usable exchange table")
	ErrCall  = errors.New("dlpack: a function of the exchange table failed")
)

// CallError is the error of a function of an exchange table. It is an [ErrCall].
type CallError struct {
	Op      string // the function, by its name in DLPackExchangeAPI
	Kind    string // such as BufferError; empty if the table does not report it
	Message string // the table's message, or the problem with its result
}

// Error returns the function, the kind and the message.
func (e *CallError) Error() string {
	text := "dlpack: " + e.Op + ": "
	if e.Kind != "" {
		text += e.Kind + ": "
	}
	return text + e.Message
}

// Unwrap returns [ErrCall].
func (e *CallError) Unwrap() error { return ErrCall }
