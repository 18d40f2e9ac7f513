'use strict'

const os = require('node:os')

const HEAD = ['app', 'with', 'koa', 'answers', 'koa, µs', 'kone, µs', 'kone / koa']

function table (rows) {
  return [HEAD, ['---', '---', '---', '---', '--:', '--:', '--:'], ...rows.map(cells)]
    .map(line => `| ${line.join(' | ')} |`)
    .join('\n')
}

function cells ({ title, versions = [], koa = '', asked, same, differs, error, cpu }) {
  const compared = same ? `${asked} same` : `number ${differs + 1} differs`
  const answers = error ? `fails: ${error.replaceAll('|', '/')}` : asked ? compared : 'not run yet'
  const times = cpu ? [cpu.koa.toFixed(0), cpu.kone.toFixed(0), spread(cpu.ratio)] : ['', '', '']
  return [title, versions.join(', '), koa, answers, ...times]
}

const spread = ({ median, min, max }) => `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`

// The whole of test/compat/README.md.
function page (rows, { count, generator }) {
  return `# Real applications

Unmodified, with koa and with kone in koa's place (\`"koa": "file:kone.tgz"\` and \`overrides\`, so
that every package in the tree gets it). One client sends the same requests to both; status, reason,
headers and body have to be equal, but for dates, ids and signatures. The times are server CPU per
request, in the rounds of the [lab](../../benchmarks/README.md): medians of ${count} rounds of two seconds by
${generator}, eight connections; the ratio is that of the rounds, with the lowest and the highest. They tell
what an app saves as a whole; its own work, a database's for example, is in both.

${table(rows)}

\`make compat\`, ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, \
${os.platform()} ${os.arch()}, ${os.cpus().length} × ${os.cpus()[0].model.trim()}, load average \
${os.loadavg()[2].toFixed(1)} (idle is below 1; compare the two columns only). The apps are in
[real/apps](real/apps); \`make compat ARGS=strapi\` asks one of them.
`
}

module.exports = { table, page }
