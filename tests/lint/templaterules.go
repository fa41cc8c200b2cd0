package lint

import (
	"fmt"
	"path"
	"text/template/parse"
)

// computingTemplates finds templates that compute. A template contains values, ranges, and parts
// that one value of the model turns on; comparisons and concatenations are values of the model.
func computingTemplates(tree []File) []string {
	var found []string
	for _, f := range tree {
		if !f.within("templates") || path.Ext(f.Path) != ".tmpl" {
			continue
		}
		t := parse.New(f.Path)
		t.Mode = parse.SkipFuncCheck
		all := map[string]*parse.Tree{}
		if _, err := t.Parse(string(f.Data), "", "", all); err != nil {
			found = append(found, fmt.Sprintf("%s:1: %v", f.Path, err))
			continue
		}
		for _, one := range all {
			found = append(found, computing(one, one.Root)...)
		}
	}
	return found
}

// computing reports the pipelines below a node that are more than one value.
func computing(t *parse.Tree, node parse.Node) (found []string) {
	switch n := node.(type) {
	case *parse.ListNode:
		for _, child := range n.Nodes {
			found = append(found, computing(t, child)...)
		}
	case *parse.ActionNode:
		found = isValue(t, n, n.Pipe, true)
	case *parse.TemplateNode:
		found = isValue(t, n, n.Pipe, false)
	case *parse.IfNode:
		found = branches(t, &n.BranchNode)
	case *parse.RangeNode:
		found = branches(t, &n.BranchNode)
	case *parse.WithNode:
		found = branches(t, &n.BranchNode)
	}
	return found
}

func branches(t *parse.Tree, n *parse.BranchNode) []string {
	found := append(isValue(t, n, n.Pipe, false), computing(t, n.List)...)
	if n.ElseList != nil {
		found = append(found, computing(t, n.ElseList)...)
	}
	return found
}

// isValue requires one value in a pipeline, or len of one where counts are printed.
func isValue(t *parse.Tree, node parse.Node, pipe *parse.PipeNode, counts bool) []string {
	if pipe == nil || len(pipe.Cmds) == 1 && isPlain(pipe.Cmds[0].Args, counts) {
		return nil
	}
	place, _ := t.ErrorContext(node)
	return []string{fmt.Sprintf("%s: {{%s}} computes: make it a value of the model", place, pipe)}
}

func isPlain(args []parse.Node, counts bool) bool {
	if name, ok := args[0].(*parse.IdentifierNode); ok && counts && name.Ident == "len" {
		args = args[1:]
	}
	if len(args) != 1 {
		return false
	}
	switch args[0].(type) {
	case *parse.DotNode, *parse.FieldNode, *parse.VariableNode:
		return true
	}
	return false
}
