package diag

import (
	"fmt"
	"strings"
)

// DidYouMean returns a hint that names the candidate nearest to a word, or "" if none is similar
// enough.
func DidYouMean(word string, candidates []string) string {
	if best := Nearest(word, candidates); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return ""
}

// OneOf lists the allowed words after "must be".
func OneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + strings.Join(words, ", ")
}

// Nearest returns the candidate that was probably meant by a misspelled word, or "". A word of up
// to three letters may have one wrong letter.
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", min(len(word), len(word)/3+2, maxEdits+1)
	if len(word) <= 3 {
		bestDistance = min(len(word), 2)
	}
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// maxEdits is the number of edits of a plausible typing mistake.
const maxEdits = 4

// maxWord limits the quadratic time for a hostile word.
const maxWord = 100

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn one word into the other, in bytes.
func distance(a, b string) int {
	if len(a) > maxWord || len(b) > maxWord {
		return maxWord
	}
	var d [maxWord + 1][maxWord + 1]int
	for i := range len(a) + 1 {
		d[i][0] = i
	}
	for j := range len(b) + 1 {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := 1
			if a[i-1] == b[j-1] {
				replace = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
