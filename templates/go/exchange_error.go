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

// pythonExceptions are the exceptions of Python for the kinds of errors.
var pythonExceptions = []struct {
	kind error
	name string
}{
	{ErrNoMemory, "MemoryError"}, {ErrArgument, "ValueError"}, {ErrIndex, "IndexError"},
	{ErrVersion, "BufferError"}, {ErrShape, "BufferError"}, {ErrDataType, "BufferError"}, {ErrDevice, "BufferError"},
	{ErrData, "BufferError"}, {ErrNotContiguous, "BufferError"}, {ErrReadOnly, "BufferError"},
	{ErrReleased, "BufferError"}, {ErrTable, "BufferError"},
}

// PythonException returns the name of the Python exception that tables and package dlpackpy raise
// for an error: that of a [*CallError], or the one for its kind, or RuntimeError.
func PythonException(err error) string {
	var call *CallError
	if errors.As(err, &call) && call.Kind != "" {
		return call.Kind
	}
	for _, row := range pythonExceptions {
		if errors.Is(err, row.kind) {
			return row.name
		}
	}
	return "RuntimeError"
}
