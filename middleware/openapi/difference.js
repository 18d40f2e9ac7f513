'use strict'

/**
 * How a response differs from the document. A status from 400 on that the document does not have is no difference,
 * because middleware around the routes send these; nor is 304, which conditionalGet makes of a 200.
 *
 * @param {object} ctx after the middleware
 * @param {Map<any, Record<string, any>>} described of describe()
 * @return {string | undefined} a sentence that names the route
 * @api private
 */
module.exports = function differenceOf (ctx, described) {
  const layer = ctx.matched?.find(one =>
    one.path === ctx._matchedRoute && described.has(one) && one.methods.includes(ctx.method))
  const operation = described.get(layer)?.[ctx.method.toLowerCase()]
  if (operation === undefined) return undefined

  const { name, responses } = operation
  const { status } = ctx
  const documented = responses[status] ?? responses[`${String(status)[0]}XX`] ?? responses.default
  if (documented === undefined) {
    if (status >= 400 || status === 304) return undefined
    return `openapi: ${name()} responded with ${status}, and its document has ${Object.keys(responses).join(', ')}: ` +
      `add { responses: { ${status}: '…' } } to the route's options`
  }
  const types = Object.keys(documented.content ?? {})
  if (types.length === 0 || ctx.response.is(types)) return undefined
  return `openapi: ${name()} responded with ${status} and ${ctx.response.type || 'no content'}, and its document has ` +
    `${types.join(', ')}: name the type in the route's options, { responses: { ${status}: { content: … } } }`
}
