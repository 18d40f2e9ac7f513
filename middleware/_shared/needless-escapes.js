'use strict'

/**
 * A percent-encoded unreserved character (RFC 3986, 2.3), in a path that has not been decoded. No client has to send
 * one, and a guard that compares paths as they were sent would not know the path by this spelling.
 */
module.exports = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/i
