/// <reference types="node" />
import { IncomingMessage } from 'node:http'
import Kone = require('../../lib/index')

declare function upload (options?: upload.Options): Kone.Middleware

declare namespace upload {
  interface Limits {
    // <options.limits>
    /** The largest file (bytes, or as `'1mb'`). Default: `'10mb'`. */
    fileSize?: number | string | undefined
    /** Files of a form. Default: 20. */
    files?: number | undefined
    /** Other fields of a form. Default: 100. */
    fields?: number | undefined
    /**
     * The largest field; all fields together may have `fieldSize` or 1 MB, whichever is larger (bytes, or as
     * `'1mb'`). Default: `'1mb'`.
     */
    fieldSize?: number | string | undefined
    // </options.limits>
  }

  interface Options {
    // <options>
    /** Existing folder that files are written to. Default: the system's temporary folder. */
    dest?: string | undefined
    /**
     * `[{ name: 'avatar', maxCount: 1 }]`, as multer's `fields()`: a file in another field is a 400, more than
     * `maxCount` of one are a 413. Default: any.
     */
    fields?: readonly Field[] | undefined
    /**
     * `(ctx, { fieldname, originalname, mimetype }) => boolean`, may return a promise; called before anything of a
     * file is written: `false` skips the file, `ctx.throw()` refuses the form. Default: all files.
     */
    filter?: ((ctx: Kone.Context, file: Candidate) => boolean | Promise<boolean>) | undefined
    /** Instead of `dest`: `upload.memoryStorage()`, or a storage of multer's shape. Default: files in `dest`. */
    storage?: Storage | undefined
    /** An object of limits. */
    limits?: Limits | undefined
    // </options>
  }

  interface Field {
    name: string
    maxCount?: number | undefined
  }

  /** A storage as multer's are. */
  interface Storage {
    _handleFile (
      req: IncomingMessage, file: any, callback: (err?: any, info?: any) => void): void
    _removeFile (req: IncomingMessage, file: any, callback: (err: Error | null) => void): void
  }

  /** What is known of a file before its bytes. */
  interface Candidate {
    fieldname: string
    /** The name that the client sent, without control characters: never use it as a path. */
    originalname: string
    mimetype: string
  }

  /** Keeps files in memory, as `file.buffer`. */
  function memoryStorage (): Storage

  interface File extends Candidate {
    /** Bytes. */
    size: number
    /** Removed after the response is sent, if it is still there; not with `memoryStorage()`. */
    path: string
    /** With `memoryStorage()`; reading it from a file on disk throws. */
    buffer: Buffer
  }
}

declare module '../../lib/index' {
  // not in Request, where the types of another body parser may have it
  interface BaseRequest {
    /** The other fields of the form. */
    body?: unknown
  }
  interface Request {
    files?: upload.File[]
  }
}

export = upload
