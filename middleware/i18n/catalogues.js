'use strict'

const fs = require('fs')
const path = require('path')
const { isObject } = require('../../lib/shared/options')
const { given, manual, misuse, noPromise } = require('../_shared/usage-error')

/**
 * The catalogues that the options name, from files or as they are.
 *
 *    read({ locales: ['en'], directory: './locales', parse: JSON.parse })   // { en: { Hello: 'Hello' } }
 *
 * @param {object} settings of i18n
 * @return {Record<string, object>} by locale
 * @throws {Error} for a file that is missing or not a catalogue, with its path
 * @throws {TypeError} for `locales` that are neither names nor catalogues
 */
function read ({ locales, directory, extension, parse }) {
  if (Array.isArray(locales) && locales.length > 0) {
    const extensions = extension === undefined ? ['.js', '.json'] : [extension]
    return Object.fromEntries(locales.map(name => {
      return [name, readFile(path.resolve(directory), name, extensions, parse)]
    }))
  }
  if (isObject(locales) && Object.values(locales).every(isObject)) return locales
  throw misuse('i18n', `options.locales must be an array of names or an object of catalogues by name, not ${given(locales)}`)
}

function readFile (directory, name, extensions, parse) {
  const files = extensions.map(extension => path.join(directory, name + extension))
  const file = files.find(fs.existsSync)
  if (file === undefined) throw new Error(`i18n: there is no catalogue ${files.join(' or ')} (${manual('i18n')})`)
  try {
    const catalogue = noPromise('i18n', 'options.parse', parse(fs.readFileSync(file, 'utf8').replace(/^\uFEFF/, '')))
    if (isObject(catalogue)) return catalogue
  } catch (cause) {
    throw new Error(`i18n: ${file} cannot be read: ${cause.message} (${manual('i18n')})`, { cause })
  }
  throw new Error(`i18n: ${file} is not a catalogue, an object of texts by key (${manual('i18n')})`)
}

module.exports = read
