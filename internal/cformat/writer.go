package cformat

import "bytes"

// chunk is the size from which on a Writer folds what it has.
const chunk = 64 << 10

// Writer folds a text while it is written, a chunk at a time, so that a large file is in memory
// once. No line depends on what is before a blank line, so a chunk ends there.
type Writer struct {
	pending []byte
	folded  []string
	least   int // the size from which on to look for a blank line
}

// Write adds text. It never fails.
func (w *Writer) Write(text []byte) (int, error) {
	w.pending = append(w.pending, text...)
	w.foldChunk()
	return len(text), nil
}

// WriteString is Write for a string.
func (w *Writer) WriteString(text string) (int, error) {
	w.pending = append(w.pending, text...)
	w.foldChunk()
	return len(text), nil
}

// foldChunk folds up to the last blank line, if there is enough text.
func (w *Writer) foldChunk() {
	if len(w.pending) < max(chunk, w.least) {
		return
	}
	at := bytes.LastIndex(w.pending, []byte("\n\n"))
	if at < 0 {
		w.least = 2 * len(w.pending) // so that a text without blank lines is searched a few times
		return
	}
	w.folded = append(w.folded, Fold(string(w.pending[:at+1])))
	w.pending, w.least = append(w.pending[:0], w.pending[at+1:]...), 0
}

// Texts folds the rest, and returns the whole text in pieces of whole lines. Nothing may be written
// afterwards.
func (w *Writer) Texts() []string { return append(w.folded, Fold(string(w.pending))) }
