'use strict'

const MAX_KNOWN = 500
const MAX_HEADER = 256 // characters; a longer header is parsed each time, so that clients cannot fill the cache

const known = new Map()

/**
 * Choose an encoding for a client: the one with the highest weight, of equals the first offered.
 *
 *    choose('gzip, br;q=0.8', ['br', 'gzip', 'identity'])   // 'gzip'
 *
 * By hand because the negotiator that accepts 1 brings (0.6) lets the client's order decide between equals.
 *
 * RFC 9110, 12.5.3. `identity` has the lowest weight of all accepted encodings unless the header names
 * it. undefined means that no offer is acceptable.
 *
 * @param {string} header Accept-Encoding
 * @param {string[]} offered in order of preference
 * @return {string|undefined}
 * @api private
 */
module.exports = function choose (header, offered) {
  let weights = known.get(header)
  if (weights === undefined) {
    weights = parse(header)
    if (header.length <= MAX_HEADER) {
      if (known.size === MAX_KNOWN) known.clear()
      known.set(header, weights)
    }
  }

  let best
  let heaviest = 0
  for (const encoding of offered) {
    const weight = weights.get(encoding) ?? weights.get('*') ?? 0
    if (weight > heaviest) {
      best = encoding
      heaviest = weight
    }
  }
  return best
}

/**
 *     Accept-Encoding = #( codings [ OWS ";" OWS "q=" qvalue ] )
 */
function parse (header) {
  const weights = new Map()
  let least = 1
  for (const item of header.split(',')) {
    const [coding, ...parameters] = item.split(';')
    const name = coding.trim().toLowerCase()
    if (name === '') continue
    const q = parameters.map(one => one.trim()).find(one => /^q=/i.test(one))
    const weight = q === undefined ? 1 : Number(q.slice(2)) || 0
    weights.set(name, weight)
    if (weight > 0) least = Math.min(least, weight)
  }
  if (!weights.has('identity') && !weights.has('*')) weights.set('identity', least)
  return weights
}
