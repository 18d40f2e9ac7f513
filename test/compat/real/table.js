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
  const answers = error ? `fails: ${error.replaceAll('|', '/')}` : asked ? compared : 'not asked yet'
  const times = cpu ? [cpu.koa.toFixed(0), cpu.kone.toFixed(0), (cpu.kone / cpu.koa).toFixed(2)] : ['', '', '']
  return [title, versions.join(', '), koa, answers, ...times]
}

// The whole of test/compat/README.md.
function page (rows) {
  return `# Real applications

Unmodified, with koa and with kone in koa's place (\`"koa": "file:kone.tgz"\` and \`overrides\`, so
that every package in the tree gets it). Each is asked the same by the same client; status, reason,
headers and body have to be the same, but for dates, ids and signatures. The times are CPU (user
and system) of the server's process per request: median of three rounds by turns, eight requests at
a time. They tell what an app saves as a whole; its own work, a database's say, is in both.

${table(rows)}

\`make compat\`, ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, \
${os.platform()} ${os.arch()}, ${os.cpus().length} × ${os.cpus()[0].model.trim()}, \
load average ${os.loadavg()[2].toFixed(1)} (idle is below 1; compare the two columns only). The apps are in [real/apps](real/apps).
`
}

module.exports = { table, page }
