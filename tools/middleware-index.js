'use strict'

const fs = require('node:fs')
const path = require('node:path')
const verbs = require('./router-verbs')

const SET = path.join(__dirname, '../middleware')

/**
 * The names of the set: the folders of `middleware/` that do not begin with an underscore.
 *
 *    names()   // ['bodyParser', 'compress', …]
 *
 * @return {string[]} sorted
 */
exports.names = function () {
  return fs.readdirSync(SET, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && !entry.name.startsWith('_'))
    .map(entry => entry.name)
    .sort()
}

/**
 * The text of the files below `middleware/` that are made.
 *
 * @param {string[]} names
 * @return {Record<string, string>} file name → text
 */
exports.generate = names => ({ 'index.js': code(names), 'index.d.ts': types(names), 'router/verb.d.ts': verbs() })

// Bundlers follow only a `require` of a literal. Deno sees the keys of an object that is assigned to
// `module.exports` by its name, and Node only assignments to `exports`: those are never run.
function code (names) {
  return `'use strict'

// Made by \`make index\` from the folders beside it.

/**
 * The whole set. A middleware is loaded when it is first read, so an app pays at start only for what
 * it uses.
 *
 *    const { logger, session } = require('kone/middleware')
 */
const set = {
${names.map(name => `  get ${name} () { return require('./${name}') }`).join(',\n')}
}

module.exports = set

// the names, for \`import { session } from 'kone/middleware'\`
0 && (
${names.map(name => `  exports.${name} =`).join('\n')}
  null
)
`
}

// \`static\` is a reserved word, and so cannot be the name of an import
function types (names) {
  const local = name => name === 'static' ? 'serve' : name
  const exported = name => name === local(name) ? name : `${local(name)} as ${name}`
  return `// Made by \`make index\` from the folders beside it.

${names.map(name => `import ${local(name)} = require('./${name}')`).join('\n')}

export {
${names.map(name => `  ${exported(name)}`).join(',\n')}
}
`
}

/**
 * The `exports` of package.json with one entry for each name. A pattern would also match a name in the wrong case where
 * file names have none; the last one says which name was meant.
 *
 * @param {object} all today's
 * @param {string[]} names
 * @return {object}
 */
exports.withNames = function (all, names) {
  const entries = []
  for (const [key, target] of Object.entries(all)) {
    if (key === './middleware/*') continue
    if (!key.startsWith('./middleware/')) entries.push([key, target])
    if (key !== './middleware') continue
    for (const name of names) entries.push([`./middleware/${name}`, `./middleware/${name}/index.js`])
    entries.push(['./middleware/_*', null], ['./middleware/*', { types: null, default: './middleware/_shared/unknown.js' }])
  }
  return Object.fromEntries(entries)
}

if (require.main === module) {
  for (const [file, text] of Object.entries(exports.generate(exports.names()))) {
    fs.writeFileSync(path.join(SET, file), text)
  }
  const manifest = require('../package.json')
  const text = JSON.stringify({ ...manifest, exports: exports.withNames(manifest.exports, exports.names()) }, null, 2)
  fs.writeFileSync(path.join(SET, '../package.json'), `${text}\n`)
}
