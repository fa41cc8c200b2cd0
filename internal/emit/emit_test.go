package emit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheBannerIsACommentOfTheLanguage(t *testing.T) {
	for name, want := range map[string]string{
		"a.h": "/* |*/", "a.c": "/* |*/", "a.hpp": "// |", "a.cpp": "// |", "a.go": "// |", "a.py": "# |",
		"a.pyi": "# |", "py.typed": "# |",
		"a.sh": "# |",
	} {
		before, after, _ := strings.Cut(want, "|")
		banner := Banner(name, "1.3")
		assert.True(t, HasBanner([]byte(banner)), name)
		for line := range strings.SplitSeq(strings.TrimSuffix(banner, "\n"), "\n") {
			assert.True(t, strings.HasPrefix(line, before) && strings.HasSuffix(line, after), line)
		}
	}
}
