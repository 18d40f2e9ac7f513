'use strict'

const { Options, boolean, each, fn, object, record, refused, shape, text } = require('../../lib/shared/options')

module.exports = new Options('template', {
  autoRender: boolean.says(
    'set `ctx.body` to the rendered text; the promise of `ctx.render()` resolves to the text in any case', { default: true }),
  extension: text.says('extension of a view that is named without one', { default: 'html' }),
  map: record(text).says("more extensions of nunjucks files: `{ tpl: 'nunjucks' }`", { type: "{ [extension: string]: 'nunjucks' }" }),
  options: shape({
    ...each(record(fn), 'filters', 'tests'),
    ...each(object, 'globals', 'extensions', 'tags', 'nunjucksEnv'),
    ...each(boolean, 'autoescape', 'throwOnUndefined', 'trimBlocks', 'lstripBlocks', 'watch', 'noCache', 'cache')
  }, { open: true }).says('settings of the engine, which its README lists; all other names are variables of every template', {
    type: 'EngineOptions'
  }),
  engineSource: refused('nunjucks is the only engine here, koa-views has others')
})
