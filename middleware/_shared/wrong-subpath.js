'use strict'

const fs = require('fs')
const { placeIn, trace } = require('../../lib/shared/places')
const { nearest } = require('../../lib/shared/nearest')
const { exports: entries } = require('../../package.json')

const PREFIX = './middleware/'

/*
 * What a name that is not in the set resolves to, as `kone/middleware/bodyparser`: also where file names have no case.
 */

const names = Object.keys(entries).filter(key => key.startsWith(PREFIX) && !key.includes('*'))
  .map(key => key.slice(PREFIX.length))
const meant = nearest(nameIn(placeIn(trace())), names)
const hint = meant ? `did you mean kone/middleware/${meant}?` : `expected one of ${names.join(', ')}`
const err = new Error(`there is no such middleware: ${hint} (kone/middleware/README.md)`)
throw Object.assign(err, { code: 'MODULE_NOT_FOUND' })

/** The name in the line that requires it: no code runs where an ES module imports it. */
function nameIn (place) {
  if (place === null) return ''
  try {
    const line = fs.readFileSync(place.file, 'utf8').split('\n')[place.row - 1]
    return /middleware\/(\w+)['"`]/.exec(line)?.[1] ?? ''
  } catch {
    return ''
  }
}
