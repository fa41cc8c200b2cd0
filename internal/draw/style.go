package draw

// style is the style sheet of the picture. The fonts are the reader's system fonts. The colours
// have a contrast of at least 4.5 to 1 in both colour schemes.
const style = `<style>
text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; fill: #1f2328; }
.title, .name, .caption { font-weight: 600; }
.muted, .type, .tick { fill: #57606a; }
.mid { text-anchor: middle; }
.end { text-anchor: end; }
.page { fill: #ffffff; stroke: #d0d7de; }
.frame1 { fill: #e7ebf0; }
.frame2 { fill: #d3dae2; }
.frame3 { fill: #bec8d3; }
.int { fill: #dafbe1; stroke: #4ac26b; }
.enum { fill: #fff8c5; stroke: #d4a72c; }
.ptr { fill: #ddf4ff; stroke: #54aeff; }
.func { fill: #fbefff; stroke: #c297ff; }
.hole { fill: url(#hatch); stroke: #afb8c1; }
.hatch { stroke: #afb8c1; }
.hatched, .plate { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.muted, .type, .tick { fill: #a5afba; }
.page { fill: #0d1117; stroke: #30363d; }
.frame1 { fill: #21262d; }
.frame2 { fill: #30373f; }
.frame3 { fill: #3f4852; }
.int { fill: #0f3d1f; stroke: #2ea043; }
.enum { fill: #4a3a05; stroke: #bb8009; }
.ptr { fill: #0b3261; stroke: #388bfd; }
.func { fill: #3b2166; stroke: #a371f7; }
.hole { stroke: #6e7681; }
.hatch { stroke: #484f58; }
.hatched, .plate { fill: #0d1117; }
}
</style>
<defs><pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatched" width="8" height="8"/><line class="hatch" x1="0" y1="0" x2="0" y2="8" stroke-width="3"/></pattern></defs>
`
