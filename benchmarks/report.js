'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { OUT } = require('./lib/run/result')
const { write, fill } = require('./lib/report/site')

/*
 * One page of all results: out/report/index.html, which links a page for each out/NAME.json. With
 * --readme the tables in the README are made from the same files instead.
 */

const README = path.join(__dirname, '../README.md')
const USAGE = `usage: make report ARGS="…"

  --from FOLDER    where the results are (default: benchmarks/out); the pages go to FOLDER/report
  --readme         write the tables of README.md instead of pages`

const [from, readme] = options(process.argv.slice(2))
const results = read(from)
if (readme) {
  fs.writeFileSync(README, fill(fs.readFileSync(README, 'utf8'), results))
  console.log(path.relative(process.cwd(), README))
} else {
  for (const file of write(results, path.join(from, 'report'))) console.log(path.relative(process.cwd(), file))
}

function options (argv) {
  let from = OUT
  let readme = false
  for (let i = 0; i < argv.length; i++) {
    if (argv[i] === '--help') end(0, USAGE)
    else if (argv[i] === '--readme') readme = true
    else if (argv[i] === '--from' && argv[i + 1]) from = path.resolve(argv[++i])
    else end(2, `report: unknown option ${argv[i]}\n\n${USAGE}`)
  }
  return [from, readme]
}

// Results by lab; a file that is no result is named and left out.
function read (folder) {
  const files = fs.existsSync(folder) ? fs.readdirSync(folder).filter(file => file.endsWith('.json')).sort() : []
  const results = {}
  for (const file of files) {
    try {
      const result = JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8'))
      if (!Array.isArray(result.rows) || !result.machine) throw new Error('it is not the result of a lab')
      results[path.basename(file, '.json')] = result
    } catch (err) {
      console.error(`${file} is left out: ${err.message}`)
    }
  }
  return results
}

function end (code, message) {
  console[code ? 'error' : 'log'](message)
  process.exit(code)
}
