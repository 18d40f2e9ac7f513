'use strict'

/**
 * What of a template is TypeScript, and what JavaScript has there. Templates are written in TypeScript, because types
 * can be left out and not be invented. Node 20 has no `stripTypeScriptTypes`, which also leaves blanks in place of
 * types. These rules know what the templates use, no more: test/create.long.test.js compares the result with node's.
 */
const RULES = [
  [/^import type .*\n/gm, ''],
  [/, type \w+/g, ''], // of an import
  [/^(?:interface|type) \w+ .*?\n\n/gms, ''], // a declaration, to the next empty line
  [/(new \w+)<[^(]*>(?=\()/g, '$1'],
  [/ctx\.request\.body as (Record<.*?>)/g, '/** @type {$1} */ (ctx.request.body)'],
  [/ as (?:const|[A-Z]\w*|unknown\[\])/g, ''],
  [/: (?:value is string|(?:[A-Z][\w.]*|string|number|unknown)(?:<[^>]*>)?(?:\[\])?)(?=[,)]| =| \{)/g, ''],
  [/'\.\.\/'/g, "'./'"], // no src
  [/src\/(?=[\w.]+\.ts)/g, ''],
  [/\.ts\b/g, '.js'],
  [/ compiles, then runs/g, ' runs'], // of a README
  [/^ +npm run build .*\n/gm, '']
]

/**
 * @param {string} text of a template, TypeScript or its README
 * @return {string}
 */
module.exports = function javascript (text) {
  return RULES.reduce((changed, [found, instead]) => changed.replace(found, instead), text)
}
