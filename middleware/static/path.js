'use strict'

const isWindows = process.platform === 'win32'

/**
 * The file path that a request's path names, if it spells it in the one way there is.
 *
 *    canonical('/a%20b/c.txt')   // '/a b/c.txt'
 *    canonical('/a/../c.txt')    // undefined
 *
 * A guard mounted before the files compares paths as they were sent, so no file may have a second
 * spelling that it would not know: no empty, `.` or `..` segment, and nothing percent-encoded that
 * RFC 3986 (2.3, unreserved) says to send as it is, nor a slash or a NUL. Reserved characters may
 * be sent either way, since clients differ.
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
  if (NEEDLESSLY_ENCODED.test(path)) return
  return isWindows && ODD_ON_WINDOWS.test(decoded) ? undefined : decoded
}

// a final empty segment is a directory's slash
const ODD_SEGMENT = /\/(?:\/|\.{1,2}(?:\/|$))/

//                            NUL  -  .  / digits        A-Z and a-z          _        ~
const NEEDLESSLY_ENCODED = /%(?:00|2[def]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/i

// other names of one file there: a\b, a.txt::$DATA, `a.txt.`
const ODD_ON_WINDOWS = /[\\:]|[. ](?:\/|$)/
