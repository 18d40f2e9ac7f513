'use strict'

const NEEDLESS = require('../_shared/needless-escapes')

const isWindows = process.platform === 'win32'

/**
 * The file path of a request's path, if the request's path is in its canonical form.
 *
 *    canonical('/a%20b/c.txt')   // '/a b/c.txt'
 *    canonical('/a/../c.txt')    // undefined
 *
 * A guard before the files compares paths as they were sent. A second spelling of a path would get past
 * it, so these are refused: an empty, `.` or `..` segment, percent-encoded unreserved characters
 * (RFC 3986, 2.3), and an encoded slash or NUL. Reserved characters may be encoded or not, and an
 * encoding in either letter case, because clients differ.
 *
 * @param {string} path
 * @return {string|undefined}
 * @throws {URIError} for a malformed percent-encoding
 * @api private
 */
module.exports = function canonical (path) {
  if (path.charCodeAt(0) !== 47 /* / */ || ODD_SEGMENT.test(path) || path.includes('\0')) return
  if (!path.includes('%')) return isWindows && ODD_ON_WINDOWS.test(path) ? undefined : path

  const decoded = decodeURIComponent(path)
  if (NEEDLESS.test(path) || SLASH_OR_NUL.test(path)) return
  return isWindows && ODD_ON_WINDOWS.test(decoded) ? undefined : decoded
}

// a final empty segment is the slash of a directory
const ODD_SEGMENT = /\/(?:\/|\.{1,2}(?:\/|$))/

const SLASH_OR_NUL = /%(?:2f|00)/i

// other names of one file there: a\b, a.txt::$DATA, `a.txt.`
const ODD_ON_WINDOWS = /[\\:]|[. ](?:\/|$)/
