package names

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A set has declared names: "f" for a function, type, macro, enumerator or variable, and
// "Owner.name" for a member of a type or of a named namespace.
type set map[string]bool

// scanner reads the declarations of a C or C++ header. It is no compiler: it skips bodies of
// functions, and reads one branch of each #if.
type scanner struct {
	tokens []string
	found  set
}

var (
	noise = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'`)
	words = regexp.MustCompile(`[A-Za-z_]\w*|\d[\w.']*|\S`)
	macro = regexp.MustCompile(`^#\s*define\s+(\w+)`)
	// release matches the namespace of a DLPack release, which is inline.
	release = regexp.MustCompile(`^v\d+_\d+$`)
)

// declarationsOf returns the names that a header declares.
func declarationsOf(header string) set {
	code := noise.ReplaceAllStringFunc(header, func(text string) string {
		if strings.HasPrefix(text, "/") {
			return " "
		}
		return "0"
	})
	s := &scanner{found: set{}}
	s.tokens = words.FindAllString(s.withoutDirectives(code), -1)
	s.scope("")
	return s.found
}

// withoutDirectives records macros, and removes directives and branches after #else and #elif.
func (s *scanner) withoutDirectives(code string) string {
	var kept strings.Builder
	var alternative []bool // for each open #if, whether this is another branch than the first
	for line := range strings.Lines(strings.ReplaceAll(code, "\\\n", " ")) {
		line = strings.TrimSpace(line)
		directive := strings.TrimSpace(strings.TrimPrefix(line, "#"))
		switch {
		case !strings.HasPrefix(line, "#"):
			if !slices.Contains(alternative, true) {
				kept.WriteString(line + "\n")
			}
		case strings.HasPrefix(directive, "if"):
			alternative = append(alternative, false)
		case strings.HasPrefix(directive, "el") && len(alternative) > 0:
			alternative[len(alternative)-1] = true
		case strings.HasPrefix(directive, "endif") && len(alternative) > 0:
			alternative = alternative[:len(alternative)-1]
		default:
			if m := macro.FindStringSubmatch(line); m != nil {
				s.found[m[1]] = true
			}
		}
	}
	return kept.String()
}

// next returns the next token, "" at the end.
func (s *scanner) next() (t string) {
	if len(s.tokens) == 0 {
		return ""
	}
	t, s.tokens = s.tokens[0], s.tokens[1:]
	return t
}

// scope reads declarations up to the brace that closes the scope, whose members belong to owner.
func (s *scanner) scope(owner string) {
	var statement []string
	for {
		switch t := s.next(); t {
		case "", "}":
			return
		case ";":
			s.declare(owner, statement)
			statement = nil
		case ":":
			if len(statement) == 1 && slices.Contains([]string{"public", "private", "protected"}, statement[0]) {
				statement = nil
				continue
			}
			statement = append(statement, t)
		case "{":
			statement = s.block(owner, statement)
		default:
			statement = append(statement, t)
		}
	}
}

// block reads a block after the tokens of its declaration, and returns the tokens with which the
// statement continues.
func (s *scanner) block(owner string, statement []string) []string {
	outer := outside(statement)
	switch i := slices.IndexFunc(outer, isTypeWord); {
	case slices.Contains(outer, "namespace"):
		s.scope(namespaceOf(owner, outer))
	case len(outer) > 0 && outer[0] == "extern" && !slices.Contains(outer, "("):
		s.scope(owner)
	case slices.Contains(outer, "=") || i < 0 && !slices.Contains(outer, "("):
		s.skip()
		return statement
	case i < 0 || slices.Contains(outer, "("):
		s.skip()
		s.declare(owner, statement)
	default:
		name := nameOfType(outer[i:])
		if name != anonymous {
			s.add(owner, name)
		}
		if slices.Contains(outer, "enum") {
			s.enumerators(owner, name, slices.Contains(outer, "class"))
		} else {
			s.scope(name)
		}
		return []string{"type"} // variables or a typedef may follow
	}
	return nil
}

func isTypeWord(t string) bool {
	return slices.Contains([]string{"struct", "class", "union", "enum"}, t)
}

// anonymous is the owner of members of a type without a name.
const anonymous = "anonymous"

// nameOfType returns the name after struct, class, union or enum.
func nameOfType(tokens []string) string {
	name := anonymous
	for _, t := range tokens {
		if t == ":" {
			break
		}
		if isIdentifier(t) && !isTypeWord(t) && t != "final" {
			name = t
		}
	}
	return name
}

// namespaceOf returns the owner of the members of a namespace: those of the outermost namespace, of
// a release and of an anonymous namespace have none.
func namespaceOf(owner string, tokens []string) string {
	i := slices.Index(tokens, "namespace") + 1
	if i == len(tokens) || tokens[i] == "dlpackgen" || release.MatchString(tokens[i]) {
		return owner
	}
	return tokens[i]
}

func (s *scanner) skip() {
	for depth := 1; depth > 0; {
		switch s.next() {
		case "{":
			depth++
		case "}":
			depth--
		case "":
			return
		}
	}
}

// enumerators reads those of an enum.
func (s *scanner) enumerators(owner, enum string, scoped bool) {
	expected := true
	for {
		switch t := s.next(); {
		case t == "}" || t == "":
			return
		case t == ",":
			expected = true
		case expected && isIdentifier(t):
			expected = false
			if scoped {
				s.add(enum, t)
			} else {
				s.add(owner, t)
			}
		}
	}
}

func (s *scanner) add(owner, name string) {
	if owner != "" {
		name = owner + "." + name
	}
	s.found[name] = true
}

// declare records the names of a statement outside of bodies.
func (s *scanner) declare(owner string, statement []string) {
	i := slices.Index(statement, "(")
	if i >= 0 && i+4 < len(statement) && statement[i+1] == "*" && statement[i+4] == "(" {
		s.add(owner, statement[i+2]) // a pointer to a function: (*name)(
		return
	}
	outer := outside(statement)
	if len(outer) == 0 || slices.Contains([]string{"friend", "static_assert", "return"}, outer[0]) {
		return
	}
	if i := slices.Index(outer, "("); i > 0 && !slices.Contains(outer[:i], "=") {
		if isIdentifier(outer[i-1]) {
			s.add(owner, outer[i-1])
		}
		return
	}
	last := ""
	for _, t := range append(outer, ",") {
		switch {
		case t == "=" && outer[0] == "using", t == ",":
			if last != "" {
				s.add(owner, last)
			}
			last = ""
			if outer[0] == "using" {
				return
			}
		case t == "=" || t == "[" || t == ":":
			if last != "" {
				s.add(owner, last)
			}
			last = ""
		case isIdentifier(t) && t != "type":
			last = t
		}
	}
}

// outside returns the tokens outside of parentheses and of template arguments; "(" stands for a
// pair of parentheses.
func outside(statement []string) (tokens []string) {
	round, angle := 0, 0
	for i, t := range statement {
		switch {
		case t == "(":
			if round == 0 && angle == 0 && !(i > 0 && slices.Contains(attributes, statement[i-1])) {
				tokens = append(tokens, t)
			}
			round++
		case t == ")":
			round--
		case round > 0:
		case t == "<" && i > 0 && isIdentifier(statement[i-1]):
			angle++
		case t == ">" && angle > 0:
			angle--
		case angle == 0 && !slices.Contains(attributes, t):
			tokens = append(tokens, t)
		}
	}
	return tokens
}

// attributes are words before parentheses that do not name a function.
var attributes = []string{"__attribute__", "alignas", "decltype", "noexcept", "explicit"}

func isIdentifier(t string) bool { return t != "" && (t[0] == '_' || unicode.IsLetter(rune(t[0]))) }
