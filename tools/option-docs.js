'use strict'

const { inspect } = require('node:util')

const WIDTH = 118

/*
 * What the manual and the types say of options, from their rules (lib/shared/options.js). It is between two marks, with
 * the name of a member whose own members are meant: `<!-- options -->` and `<!-- /options -->` in a page,
 * `// <options>` and `// </options>`, or `// <options.limits>`, inside an interface.
 */

/**
 * @param {string} text a page
 * @param {Record<string, Options>} tables by name: `options`
 * @return {string} the page with its tables
 */
exports.page = (text, tables) => text.replace(
  /(<!-- (\w+) -->\n)[^]*?(?=<!-- \/\2 -->)/g,
  (all, mark, name) => tables[name] === undefined ? all : mark + tableOf(tables[name].rule.members))

/**
 * @param {string} text a .d.ts
 * @param {Record<string, Options>} tables
 * @return {string} with the members of its interfaces
 */
exports.types = (text, tables) => text.replace(
  /( *)(\/\/ <([\w.]+)>\n)[^]*?(?= *\/\/ <\/\3>)/g, (all, indent, mark, path) => {
    const [name, ...rest] = path.split('.')
    const rule = rest.reduce(({ members }, name) => members[name], tables[name].rule)
    return indent + mark + membersOf(rule.members, indent)
  })

/** The rows of a table; options that stand together, with one sentence and one default, share a row. */
function tableOf (members) {
  const rows = []
  for (const { name, rule } of described(members)) {
    const names = [name].concat(rule.alias ?? []).map(one => `\`${one}\``).join(', ')
    const hasOwn = rule.members !== undefined && described(rule.members).length > 0
    const cells = [hasOwn ? 'see the next rows' : defaultOf(rule) ?? 'none', sentenceOf(rule)].map(text => text.replaceAll('|', '\\|'))
    const last = rows.at(-1)
    if (last !== undefined && last.cells.join() === cells.join()) last.names += `, ${names}`
    else rows.push({ names, cells })
  }
  const lines = rows.map(({ names, cells }) => `| ${[names, ...cells].join(' | ')} |\n`)
  return `| option | default | meaning |\n|---|---|---|\n${lines.join('')}`
}

/** Options with a sentence, and after each of them its own. */
function described (members, path = '') {
  return Object.entries(members).flatMap(([name, rule]) => [
    ...rule.sentence === undefined ? [] : [{ name: path + name, rule }],
    ...rule.members === undefined ? [] : described(rule.members, `${path}${name}.`)
  ])
}

function sentenceOf ({ sentence, unit }) {
  return unit === undefined ? sentence : `${sentence} (${unit})`
}

function defaultOf ({ default: value, otherwise, isRequired }) {
  if (isRequired) return 'required'
  if (value === undefined || otherwise !== undefined) return otherwise
  if (typeof value === 'number') return value < 10_000 ? String(value) : value.toLocaleString('en-US')
  return `\`${inspect(value, { breakLength: Infinity, compact: true }).replace(/(?<=\[) | (?=\])/g, '')}\``
}

function membersOf (members, indent) {
  return Object.entries(members).filter(([, { type }]) => type !== 'never').flatMap(([name, rule]) => {
    const type = rule.isRequired || rule.type === 'any' ? rule.type : `${isFunction(rule.type) ? `(${rule.type})` : rule.type} | undefined`
    const line = one => `${one}${rule.isRequired ? '' : '?'}: ${type}`
    const names = rule.alias === undefined ? [] : [`/** Another name of \`${name}\`. */`, line(rule.alias)]
    return [...commentOf(rule), line(name), ...names].map(text => `${indent}${text}\n`)
  }).join('')
}

/** Is it a function's type, and none that only has one inside? */
function isFunction (type) {
  const outside = type.replace(/\([^()]*\)|\{[^{}]*\}|<[^<>]*>/g, '')
  return outside === type ? type.includes('=>') : isFunction(outside)
}

function commentOf (rule) {
  if (rule.sentence === undefined) return []
  const otherwise = rule.isRequired ? undefined : defaultOf(rule)
  const says = sentenceOf(rule).replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  const text = `${says[0].toUpperCase()}${says.slice(1)}.${otherwise === undefined ? '' : ` Default: ${otherwise}.`}`
  if (text.length < WIDTH - 12) return [`/** ${text} */`]
  return ['/**', ...text.match(new RegExp(`.{1,${WIDTH - 8}}(?: |$)`, 'g')).map(part => ` * ${part.trimEnd()}`), ' */']
}
