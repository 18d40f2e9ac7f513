'use strict'

const { bars, lines } = require('./chart')
const { escape } = require('./text')

/**
 * A result as one page that needs nothing else: no script, no font, no image from anywhere.
 *
 * @param {object} result
 * @param {{ title: string, sections: object[], parent?: string }} view sections: `{ heading, text?, table?, chart?, notes? }`,
 *   where a chart is `{ rows, caption }`, bars, or what `lines` of chart.js takes; parent: a page to link back to
 * @return {string}
 */
exports.page = function (result, { title, sections, parent }) {
  const { date, node, command, commit, machine, contenders, missing = [], skipped = [], derived = {} } = result
  const facts = [
    ['Machine', `${machine.cpu}, ${machine.cores} cores, ${machine.kernel}`],
    ['Node', node],
    ['When', `${date.slice(0, 16).replace('T', ' ')} UTC`],
    ['Rounds', `${derived.rounds ?? result.rows[0]?.rounds.length ?? 0}${derived.quick ? ', quick: a first look, not a result' : ''}`],
    ['Command', command],
    ...commit ? [['Commit', `${commit.hash.slice(0, 9)}${commit.dirty ? ' with changes' : ''}`]] : [],
    ...skipped.map(({ part, reason }) => ['Left out', `${part}: ${reason}`]),
    ['Versions', contenders.map(({ name, version }) => `${name} ${version}`).join(', ')],
    ...missing.map(({ name, how }) => ['Missing', `${name}: ${how}`])
  ]
  return frame(title, [
    parent && `<p><a href="${escape(parent)}">← all results</a></p>`,
    ...sections.map(section),
    section({ heading: 'How it was measured', facts })
  ].filter(Boolean).join('\n'))
}

/**
 * The document around a body.
 *
 * @param {string} title
 * @param {string} body HTML
 * @return {string}
 */
const frame = exports.frame = function (title, body) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${escape(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escape(title)}</h1>
${body}
</main>
</body>
</html>
`
}

/**
 * @param {{ heading: string, text?: string, html?: string, table?: string[][], chart?: object, facts?: string[][],
 *   notes?: string[] }} section html: as it is, the rest is text
 * @return {string}
 */
const section = exports.section = function ({ heading, text, html, table, chart, facts, notes = [] }) {
  const drawn = chart?.series?.some(({ points }) => points.length) || chart?.rows?.length
  return [
    '<section>',
    `<h2>${escape(heading)}</h2>`,
    text && `<p>${escape(text)}</p>`,
    html,
    drawn && (chart.series ? lines(chart) : bars(chart.rows, chart.caption, chart.labels)),
    table && grid(table),
    facts && `<dl>\n${facts.map(([name, value]) => `<dt>${escape(name)}</dt><dd>${escape(value)}</dd>`).join('\n')}\n</dl>`,
    notes.length > 0 && `<ul>${notes.map(note => `<li>${escape(note)}</li>`).join('')}</ul>`,
    '</section>'
  ].filter(Boolean).join('\n')
}

function grid ([head, ...rows]) {
  const cells = (row, tag) => row.map(cell => `<${tag}>${escape(cell ?? '')}</${tag}>`).join('')
  const line = ([name, ...row]) => `<tr><th scope="row"><span>${escape(name)}</span></th>${cells(row, 'td')}</tr>`
  return `<div class="wide" tabindex="0"><table>
<thead><tr>${cells(head, 'th')}</tr></thead>
<tbody>${rows.map(line).join('\n')}</tbody>
</table></div>`
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --dim: #57606a; --paper: #fff; --line: #d8dee4; --ours: #0969da; --theirs: #8c959f }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --dim: #9198a1; --paper: #0d1117; --line: #30363d; --ours: #4493f8; --theirs: #6e7681 }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { max-width: 860px; margin: 0 auto; padding: 24px 16px 64px }
h1 { font-size: 1.5rem; line-height: 1.25 } h2 { font-size: 1.125rem; margin: 40px 0 12px }
figure { margin: 0 0 20px } figcaption, ul { color: var(--dim); font-size: .875rem }
ul { padding-left: 20px; overflow-wrap: anywhere }
svg { display: block; overflow: visible } svg text { font-size: 14px; fill: var(--ink) } svg line { stroke: var(--ink); stroke-width: 1.5 }
.ours rect { fill: var(--ours) } .ours text { font-weight: 600 } .theirs rect { fill: var(--theirs) }
svg .tick { font-size: 12px; fill: var(--dim) } svg .grid { stroke: var(--line); stroke-width: 1 }
.s0 { --hue: var(--ours) } .s1 { --hue: #d4691e } .s2 { --hue: #2e8b57 } .s3 { --hue: #9d5bd2 } .s4 { --hue: #c2416c } .s5 { --hue: var(--theirs) }
svg .series line { stroke: var(--hue); stroke-width: 2 } svg .series .error { stroke-width: 1.25; opacity: .7 } .series circle { fill: var(--hue) }
svg .dashed line { stroke-dasharray: 5 3 } .legend .dashed::before { background: repeating-linear-gradient(90deg, var(--hue) 0 5px, transparent 5px 8px) }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; list-style: none; margin: 8px 0 4px; padding: 0 }
.legend li::before { content: ''; display: inline-block; width: 16px; height: 3px; margin-right: 6px; vertical-align: middle; background: var(--hue) }
.wide { overflow-x: auto } table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums }
th, td { padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap }
a { color: var(--ours) } .claims { padding: 0; list-style: none; color: var(--ink) } .claims li { margin: 0 0 16px }
.claims strong { display: block; font-size: 1rem } .yes::before { content: '✓ ' } .no::before { content: '✗ ' } .open::before { content: '– ' }
.claims span { color: var(--dim) }
th:first-child { text-align: left; white-space: normal } th { color: var(--dim); font-weight: 500 }
tbody th { color: var(--ink); font-weight: 400 } tbody th span { display: inline-block; width: max-content; max-width: max(11em, 45vw) }
dl { display: grid; grid-template-columns: auto 1fr; gap: 4px 16px; font-size: .875rem } dt { color: var(--dim) } dd { margin: 0; overflow-wrap: anywhere }
`
