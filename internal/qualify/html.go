package qualify

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
)

// HTML is the report as one page that needs nothing from anywhere.
func (r *Report) HTML() ([]byte, error) {
	var b bytes.Buffer
	err := page.Execute(&b, map[string]any{
		"R": r, "Curves": []template.HTML{
			curveSVG("commands and coordinates", r.Curve, func(p Point) (right, wrong Rate) { return p.Right, p.Wrong }),
			curveSVG("bare numbers", r.Curve, func(p Point) (right, wrong Rate) { return p.NumbersRight, p.NumbersWrong }),
		},
		"Groups": []group{
			{"All", r.Overall, ""},
			{"By language", r.Language, barsSVG(r.Language)},
			{"By language, without formant voices", r.Audible, barsSVG(r.Audible)},
			{"By kind of voice", r.Kind, barsSVG(r.Kind)},
			{"By condition", r.Condition, barsSVG(r.Condition)},
			{"By task", r.Task, ""},
			{"By voice", r.Voice, ""},
		},
	})
	return b.Bytes(), err
}

type group struct {
	Title string
	Rows  []Row
	Plot  template.HTML
}

// barsSVG shows right, refused and wrong of the clips in the grammar, with the interval of what is right.
func barsSVG(rows []Row) template.HTML {
	const left, width, step = 170.0, 420.0, 26.0
	var b strings.Builder
	n := 0
	for _, r := range rows {
		s := r.Grammar
		if s.Right.N == 0 {
			continue
		}
		y := float64(n) * step
		n++
		fmt.Fprintf(&b, `<text x="%g" y="%g" text-anchor="end">%s</text>`, left-8, y+17, template.HTMLEscapeString(r.Name))
		x := left
		for _, part := range []struct {
			class string
			p     float64
		}{{"right", s.Right.P}, {"refused", s.Refused.P}, {"wrong", s.Wrong.P}} {
			fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%g" width="%.1f" height="18"/>`, part.class, x, y+4, part.p*width)
			x += part.p * width
		}
		fmt.Fprintf(&b, `<path class="whisker" d="M%.1f %g H%.1f"/>`, left+s.Right.Low*width, y+13, left+s.Right.High*width)
		fmt.Fprintf(&b, `<text x="%g" y="%g">%d of %d right, %d wrong</text>`, left+width+8, y+17, s.Right.K, s.Right.N, s.Wrong.K)
	}
	if n == 0 {
		return ""
	}
	return template.HTML(fmt.Sprintf(`<svg role="img" aria-label="right, refused and wrong" width="780" height="%g">%s</svg>`, float64(n)*step+6, b.String()))
}

// curveSVG shows what is accepted and right against what is wrong, while the limits of d move.
func curveSVG(what string, points []Point, of func(Point) (right, wrong Rate)) template.HTML {
	const left, top, width, height = 60.0, 10.0, 520.0, 300.0
	most, n := 0.01, 0
	for _, p := range points {
		right, wrong := of(p)
		most, n = max(most, wrong.P), n+right.N
	}
	if n == 0 {
		return ""
	}
	var path, dots strings.Builder
	for i, p := range points {
		right, wrong := of(p)
		x, y := left+wrong.P/most*width, top+(1-right.P)*height
		fmt.Fprintf(&path, "%c%.1f %.1f ", "ML"[min(i, 1)], x, y)
		class, r := "dot", 3
		if p.Shift == 0 {
			class, r = "chosen", 6
		}
		fmt.Fprintf(&dots, `<circle class="%s" cx="%.1f" cy="%.1f" r="%d"><title>d %+.1f: right %s, wrong %s, false %s</title></circle>`, class, x, y, r, p.Shift, right, wrong, p.False)
	}
	var axes strings.Builder
	fmt.Fprintf(&axes, `<path class="axis" d="M%g %g V%g H%g"/>`, left, top, top+height, left+width)
	for i := range 5 {
		f := float64(i) / 4
		fmt.Fprintf(&axes, `<text x="%g" y="%g" text-anchor="end">%.0f %%</text>`, left-6, top+(1-f)*height+4, 100*f)
		fmt.Fprintf(&axes, `<text x="%g" y="%g" text-anchor="middle">%.2f %%</text>`, left+f*width, top+height+18, 100*f*most)
	}
	fmt.Fprintf(&axes, `<text x="%g" y="%g" text-anchor="middle">wrong</text><text x="%g" y="%g">%s: accepted and right</text>`, left+width/2, top+height+38, left+8, top+14, what)
	return template.HTML(fmt.Sprintf(`<svg role="img" aria-label="accepted right against wrong" width="640" height="360">%s<path class="curve" d="%s"/>%s</svg>`, axes.String(), path.String(), dots.String()))
}

var page = template.Must(template.New("report").Funcs(template.FuncMap{"orNothing": orNothing, "join": strings.Join}).Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Qualification of {{.R.Made.Manifest}}</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem;color:#1c2230;background:#fff}
table{border-collapse:collapse;margin:.5rem 0 1rem}th,td{text-align:left;padding:.2rem .7rem;border-bottom:1px solid #d8dce4;font-variant-numeric:tabular-nums}
svg text{font-size:12px;fill:currentColor}.right{fill:#2e7d4f}.refused{fill:#c9ced8}.wrong{fill:#c0392b}.whisker,.axis,.curve{fill:none;stroke:currentColor}
.whisker{stroke-width:2}.curve{stroke:#2456a6;stroke-width:2}.dot{fill:#2456a6}.chosen{fill:#c0392b}code{overflow-wrap:anywhere}
@media(prefers-color-scheme:dark){body{color:#e4e7ee;background:#14171d}th,td{border-color:#343a46}.refused{fill:#565d6b}.curve{stroke:#7fa8ee}.dot{fill:#7fa8ee}}
</style></head><body>
<h1>Qualification of {{.R.Made.Manifest}}</h1>
<p>{{len .R.Clips}} clips, conditions {{join .R.Made.Conditions ", "}}, language {{.R.Made.Language}}, thresholds {{.R.Thresholds.Name}}; {{.R.Made.LeftOut}} rows left out. Every share has its 95 % Wilson interval in brackets, in per cent.</p>
<table><tr><th>command<td><code>{{join .R.Made.Command " "}}</code><tr><th>program<td><code>{{.R.Made.Program}}</code><tr><th>model<td>{{.R.Made.Model}} <code>{{.R.Made.ModelSHA}}</code>
<tr><th>corpus<td><code>{{.R.Made.Corpus}}</code><tr><th>engine<td>{{.R.Made.Engine}}, {{.R.Made.Threads}} threads</table>
<h2>Accepted and right against wrong</h2><p>The limits of d move together; the large point is the chosen one.</p>{{range .Curves}}{{.}}{{end}}
{{define "rows"}}<table><tr><th>clips of<th>set<th>intent<th>intent and slots<th>right<th>refused<th>wrong
{{range .}}{{$n := .Name}}{{with .Grammar}}{{if .Right.N}}<tr><td>{{$n}}<td>commands<td>{{.Intent}}<td>{{.Slots}}<td>{{.Right}}<td>{{.Refused}}<td>{{.Wrong}}{{end}}{{end}}
{{with .Numbers}}{{if .Right.N}}<tr><td>{{$n}}<td>numbers<td>{{.Intent}}<td>{{.Slots}}<td>{{.Right}}<td>{{.Refused}}<td>{{.Wrong}}{{end}}{{end}}
{{with .False}}{{if .N}}<tr><td>{{$n}}<td>other speech<td colspan="5">falsely accepted {{.}}{{end}}{{end}}{{end}}</table>{{end}}
{{define "named"}}<table>{{range .}}<tr><td>{{.Name}}<td>{{.Rate}}{{end}}</table>{{end}}
{{range .Groups}}<h2>{{.Title}}</h2>{{.Plot}}{{template "rows" .Rows}}{{end}}
<h2>False accepts by kind of other speech</h2>{{template "named" .R.False}}
<h2>Refused because</h2>{{template "named" .R.Reasons}}
<h2>Word error rate before rejection</h2>{{template "named" .R.WER}}
<h2>Commands that were heard for commands</h2><table><tr><th>said<th>heard<th>before rejection<th>accepted{{range .R.Commands}}<tr><td>{{.Said}}<td>{{.Heard}}<td>{{.Heards}}<td>{{.Accepted}}{{end}}</table>
<h2>Number words that were heard as another one</h2><table><tr><th>language<th>said<th>heard<th>before rejection{{range .R.Words}}<tr><td>{{.Language}}<td>{{orNothing .Said}}<td>{{orNothing .Heard}}<td>{{.Rate}}{{end}}</table>
<h2>Time</h2><table><tr><th>stage<th>n<th>p50 ms<th>p95 ms{{range .R.Times}}<tr><td>{{.Stage}}<td>{{.N}}<td>{{printf "%.0f" .P50}}<td>{{printf "%.0f" .P95}}{{end}}</table>
{{with .R.Fit}}<h2>Fit</h2><p>{{.Clips}} clips of {{.Speakers}} speakers.</p>
<table><tr><th>class<th>d<th>gap<th>witness d{{range $c, $l := .Thresholds.Limit}}<tr><td>{{$c}}<td>{{$l.D}}<td>{{$l.Gap}}<td>{{$l.WitnessD}}{{end}}</table>
<h3>In sample</h3>{{template "rows" .InSample}}<h3>The clip's own speaker left out</h3>{{template "rows" .LeftOut}}{{end}}
</body></html>
`))
