'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { VARIABLES } = require('../cluster/settings')
const { CLOSE, INJECT, INJECT_WEBSOCKET, KONE, ON_CLOSE } = require('../lib/core/settings')
const { page, types } = require('./option-docs')
const verbs = require('./router-verbs')

const ROOT = path.join(__dirname, '..')
const SET = path.join(ROOT, 'middleware')

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
 * The text of every file that is made, or has a part that is made: the two indexes, the overloads of the router, and
 * the manual and the types of options.
 *
 * @param {string[]} names
 * @return {Record<string, string>} path in the repository → text
 */
exports.generate = names => ({
  'middleware/index.js': code(names),
  'middleware/index.d.ts': declarations(names),
  'middleware/router/verb.d.ts': verbs(),
  ...described({ options: KONE, close: CLOSE, onClose: ON_CLOSE, inject: INJECT, injectWebSocket: INJECT_WEBSOCKET }, 'docs/api/application.md', 'lib/index.d.ts'),
  ...described({ variables: { rule: VARIABLES } }, 'docs/api/cluster.md'),
  ...Object.assign({}, ...names.map(name => {
    const folder = path.join(SET, name)
    if (!fs.existsSync(path.join(folder, 'options.js'))) return {}
    const table = require(path.join(folder, 'options.js'))
    return described({ options: table, ...table }, `middleware/${name}/README.md`, `middleware/${name}/index.d.ts`)
  }))
})

function described (tables, ...files) {
  return Object.fromEntries(files.map(file => {
    const text = fs.readFileSync(path.join(ROOT, file), 'utf8')
    return [file, file.endsWith('.md') ? page(text, tables) : types(text, tables)]
  }))
}

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
function declarations (names) {
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
    entries.push(['./middleware/_*', null], ['./middleware/*', { types: null, default: './middleware/_shared/wrong-subpath.js' }])
  }
  return Object.fromEntries(entries)
}

if (require.main === module) {
  for (const [file, text] of Object.entries(exports.generate(exports.names()))) {
    fs.writeFileSync(path.join(ROOT, file), text)
  }
  const manifest = require('../package.json')
  const text = JSON.stringify({ ...manifest, exports: exports.withNames(manifest.exports, exports.names()) }, null, 2)
  fs.writeFileSync(path.join(ROOT, 'package.json'), `${text}\n`)
}
