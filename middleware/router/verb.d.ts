import Kone = require('../../lib/index')
import Router = require('./index')
import Added = Router.Added
import OfPath = Router.OfPath
import Operation = Router.Operation
import Path = Router.Path
import Route = Router.Route
import Sent = Router.Sent

// Made by `make index` from tools/router-verbs.js.

/**
 * `router.get()` and the others. A middleware before the last function adds to the state and the
 * context of those behind it; the last function is given what is there, and cannot ask for more. Its body
 * is what validate() has schemas for.
 */
export interface Verb<MethodT extends string, StateT, ContextT, PrefixT extends string, SyntaxT extends 6 | 8> {
  <P extends Path, R = Router<StateT, ContextT, PrefixT, SyntaxT>> (
    this: R,
    path: P | P[],
    handler: Kone.Middleware<StateT, ContextT & OfPath<PrefixT, P, SyntaxT>, Sent<ContextT>>
  ): R & Route<MethodT, PrefixT, P, ContextT & OfPath<PrefixT, P, SyntaxT>>
  <P extends Path, S1 = {}, C1 = {}, R = Router<StateT, ContextT, PrefixT, SyntaxT>> (
    this: R,
    path: P | P[],
    m1: Kone.Middleware<StateT & S1, ContextT & OfPath<PrefixT, P, SyntaxT> & C1>,
    handler: Kone.Middleware<
      StateT & Added<S1>,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1>,
      Sent<ContextT & Added<C1>>
    >
  ): R & Route<MethodT, PrefixT, P, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1>>
  <P extends Path, S1 = {}, C1 = {}, S2 = {}, C2 = {}, R = Router<StateT, ContextT, PrefixT, SyntaxT>> (
    this: R,
    path: P | P[],
    m1: Kone.Middleware<StateT & S1, ContextT & OfPath<PrefixT, P, SyntaxT> & C1>,
    m2: Kone.Middleware<StateT & Added<S1> & S2, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & C2>,
    handler: Kone.Middleware<
      StateT & Added<S1> & Added<S2>,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2>,
      Sent<ContextT & Added<C1> & Added<C2>>
    >
  ): R & Route<MethodT, PrefixT, P, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2>>
  <
    P extends Path,
    S1 = {},
    C1 = {},
    S2 = {},
    C2 = {},
    S3 = {},
    C3 = {},
    R = Router<StateT, ContextT, PrefixT, SyntaxT>
  > (
    this: R,
    path: P | P[],
    m1: Kone.Middleware<StateT & S1, ContextT & OfPath<PrefixT, P, SyntaxT> & C1>,
    m2: Kone.Middleware<StateT & Added<S1> & S2, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & C2>,
    m3: Kone.Middleware<
      StateT & Added<S1> & Added<S2> & S3,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & C3
    >,
    handler: Kone.Middleware<
      StateT & Added<S1> & Added<S2> & Added<S3>,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & Added<C3>,
      Sent<ContextT & Added<C1> & Added<C2> & Added<C3>>
    >
  ): R & Route<MethodT, PrefixT, P, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & Added<C3>>
  <
    P extends Path,
    S1 = {},
    C1 = {},
    S2 = {},
    C2 = {},
    S3 = {},
    C3 = {},
    S4 = {},
    C4 = {},
    R = Router<StateT, ContextT, PrefixT, SyntaxT>
  > (
    this: R,
    path: P | P[],
    m1: Kone.Middleware<StateT & S1, ContextT & OfPath<PrefixT, P, SyntaxT> & C1>,
    m2: Kone.Middleware<StateT & Added<S1> & S2, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & C2>,
    m3: Kone.Middleware<
      StateT & Added<S1> & Added<S2> & S3,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & C3
    >,
    m4: Kone.Middleware<
      StateT & Added<S1> & Added<S2> & Added<S3> & S4,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & Added<C3> & C4
    >,
    handler: Kone.Middleware<
      StateT & Added<S1> & Added<S2> & Added<S3> & Added<S4>,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & Added<C3> & Added<C4>,
      Sent<ContextT & Added<C1> & Added<C2> & Added<C3> & Added<C4>>
    >
  ): R & Route<
    MethodT,
    PrefixT,
    P,
    ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & Added<C3> & Added<C4>
  >
  <P extends Path, R = Router<StateT, ContextT, PrefixT, SyntaxT>> (
    this: R,
    name: string | symbol,
    path: P | P[],
    handler: Kone.Middleware<StateT, ContextT & OfPath<PrefixT, P, SyntaxT>, Sent<ContextT>>
  ): R & Route<MethodT, PrefixT, P, ContextT & OfPath<PrefixT, P, SyntaxT>>
  <P extends Path, S1 = {}, C1 = {}, R = Router<StateT, ContextT, PrefixT, SyntaxT>> (
    this: R,
    name: string | symbol,
    path: P | P[],
    m1: Kone.Middleware<StateT & S1, ContextT & OfPath<PrefixT, P, SyntaxT> & C1>,
    handler: Kone.Middleware<
      StateT & Added<S1>,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1>,
      Sent<ContextT & Added<C1>>
    >
  ): R & Route<MethodT, PrefixT, P, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1>>
  <P extends Path, S1 = {}, C1 = {}, S2 = {}, C2 = {}, R = Router<StateT, ContextT, PrefixT, SyntaxT>> (
    this: R,
    name: string | symbol,
    path: P | P[],
    m1: Kone.Middleware<StateT & S1, ContextT & OfPath<PrefixT, P, SyntaxT> & C1>,
    m2: Kone.Middleware<StateT & Added<S1> & S2, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & C2>,
    handler: Kone.Middleware<
      StateT & Added<S1> & Added<S2>,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2>,
      Sent<ContextT & Added<C1> & Added<C2>>
    >
  ): R & Route<MethodT, PrefixT, P, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2>>
  <
    P extends Path,
    S1 = {},
    C1 = {},
    S2 = {},
    C2 = {},
    S3 = {},
    C3 = {},
    R = Router<StateT, ContextT, PrefixT, SyntaxT>
  > (
    this: R,
    name: string | symbol,
    path: P | P[],
    m1: Kone.Middleware<StateT & S1, ContextT & OfPath<PrefixT, P, SyntaxT> & C1>,
    m2: Kone.Middleware<StateT & Added<S1> & S2, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & C2>,
    m3: Kone.Middleware<
      StateT & Added<S1> & Added<S2> & S3,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & C3
    >,
    handler: Kone.Middleware<
      StateT & Added<S1> & Added<S2> & Added<S3>,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & Added<C3>,
      Sent<ContextT & Added<C1> & Added<C2> & Added<C3>>
    >
  ): R & Route<MethodT, PrefixT, P, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & Added<C3>>
  <P extends Path, R = Router<StateT, ContextT, PrefixT, SyntaxT>> (
    this: R,
    path: P | P[],
    operation: Operation,
    handler: Kone.Middleware<StateT, ContextT & OfPath<PrefixT, P, SyntaxT>, Sent<ContextT>>
  ): R & Route<MethodT, PrefixT, P, ContextT & OfPath<PrefixT, P, SyntaxT>>
  <P extends Path, S1 = {}, C1 = {}, R = Router<StateT, ContextT, PrefixT, SyntaxT>> (
    this: R,
    path: P | P[],
    operation: Operation,
    m1: Kone.Middleware<StateT & S1, ContextT & OfPath<PrefixT, P, SyntaxT> & C1>,
    handler: Kone.Middleware<
      StateT & Added<S1>,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1>,
      Sent<ContextT & Added<C1>>
    >
  ): R & Route<MethodT, PrefixT, P, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1>>
  <P extends Path, S1 = {}, C1 = {}, S2 = {}, C2 = {}, R = Router<StateT, ContextT, PrefixT, SyntaxT>> (
    this: R,
    path: P | P[],
    operation: Operation,
    m1: Kone.Middleware<StateT & S1, ContextT & OfPath<PrefixT, P, SyntaxT> & C1>,
    m2: Kone.Middleware<StateT & Added<S1> & S2, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & C2>,
    handler: Kone.Middleware<
      StateT & Added<S1> & Added<S2>,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2>,
      Sent<ContextT & Added<C1> & Added<C2>>
    >
  ): R & Route<MethodT, PrefixT, P, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2>>
  <
    P extends Path,
    S1 = {},
    C1 = {},
    S2 = {},
    C2 = {},
    S3 = {},
    C3 = {},
    R = Router<StateT, ContextT, PrefixT, SyntaxT>
  > (
    this: R,
    path: P | P[],
    operation: Operation,
    m1: Kone.Middleware<StateT & S1, ContextT & OfPath<PrefixT, P, SyntaxT> & C1>,
    m2: Kone.Middleware<StateT & Added<S1> & S2, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & C2>,
    m3: Kone.Middleware<
      StateT & Added<S1> & Added<S2> & S3,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & C3
    >,
    handler: Kone.Middleware<
      StateT & Added<S1> & Added<S2> & Added<S3>,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & Added<C3>,
      Sent<ContextT & Added<C1> & Added<C2> & Added<C3>>
    >
  ): R & Route<MethodT, PrefixT, P, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & Added<C3>>
  <
    P extends Path,
    S1 = {},
    C1 = {},
    S2 = {},
    C2 = {},
    S3 = {},
    C3 = {},
    S4 = {},
    C4 = {},
    R = Router<StateT, ContextT, PrefixT, SyntaxT>
  > (
    this: R,
    path: P | P[],
    operation: Operation,
    m1: Kone.Middleware<StateT & S1, ContextT & OfPath<PrefixT, P, SyntaxT> & C1>,
    m2: Kone.Middleware<StateT & Added<S1> & S2, ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & C2>,
    m3: Kone.Middleware<
      StateT & Added<S1> & Added<S2> & S3,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & C3
    >,
    m4: Kone.Middleware<
      StateT & Added<S1> & Added<S2> & Added<S3> & S4,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & Added<C3> & C4
    >,
    handler: Kone.Middleware<
      StateT & Added<S1> & Added<S2> & Added<S3> & Added<S4>,
      ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & Added<C3> & Added<C4>,
      Sent<ContextT & Added<C1> & Added<C2> & Added<C3> & Added<C4>>
    >
  ): R & Route<
    MethodT,
    PrefixT,
    P,
    ContextT & OfPath<PrefixT, P, SyntaxT> & Added<C1> & Added<C2> & Added<C3> & Added<C4>
  >
  // more of them: typed by the path and the router alone
  <
    P extends Path,
    ManyT extends Array<Kone.Middleware<StateT, ContextT & OfPath<PrefixT, P, SyntaxT>>>,
    R = Router<StateT, ContextT, PrefixT, SyntaxT>
  > (
    this: R,
    path: ManyT extends [] ? never : P | P[],
    ...middleware: ManyT
  ): R & Route<MethodT, PrefixT, P, ContextT & OfPath<PrefixT, P, SyntaxT>>
  <
    P extends Path,
    ManyT extends Array<Kone.Middleware<StateT, ContextT & OfPath<PrefixT, P, SyntaxT>>>,
    R = Router<StateT, ContextT, PrefixT, SyntaxT>
  > (
    this: R,
    name: string | symbol,
    path: ManyT extends [] ? never : P | P[],
    ...middleware: ManyT
  ): R & Route<MethodT, PrefixT, P, ContextT & OfPath<PrefixT, P, SyntaxT>>
  <
    P extends Path,
    ManyT extends Array<Kone.Middleware<StateT, ContextT & OfPath<PrefixT, P, SyntaxT>>>,
    R = Router<StateT, ContextT, PrefixT, SyntaxT>
  > (
    this: R,
    path: ManyT extends [] ? never : P | P[],
    operation: Operation,
    ...middleware: ManyT
  ): R & Route<MethodT, PrefixT, P, ContextT & OfPath<PrefixT, P, SyntaxT>>
  <
    P extends Path,
    ManyT extends Array<Kone.Middleware<StateT, ContextT & OfPath<PrefixT, P, SyntaxT>>>,
    R = Router<StateT, ContextT, PrefixT, SyntaxT>
  > (
    this: R,
    name: string | symbol,
    path: ManyT extends [] ? never : P | P[],
    operation: Operation,
    ...middleware: ManyT
  ): R & Route<MethodT, PrefixT, P, ContextT & OfPath<PrefixT, P, SyntaxT>>
  // router[method](), one of several methods: TypeScript calls only what is the same for all
  <
    P extends Path,
    ManyT extends Array<Kone.Middleware<StateT, ContextT & OfPath<PrefixT, P, SyntaxT>>>,
    R = Router<StateT, ContextT, PrefixT, SyntaxT>
  > (
    this: R,
    path: ManyT extends [] ? never : P | P[],
    ...middleware: ManyT
  ): R
  <
    P extends Path,
    ManyT extends Array<Kone.Middleware<StateT, ContextT & OfPath<PrefixT, P, SyntaxT>>>,
    R = Router<StateT, ContextT, PrefixT, SyntaxT>
  > (
    this: R,
    name: string | symbol,
    path: ManyT extends [] ? never : P | P[],
    ...middleware: ManyT
  ): R
  <
    P extends Path,
    ManyT extends Array<Kone.Middleware<StateT, ContextT & OfPath<PrefixT, P, SyntaxT>>>,
    R = Router<StateT, ContextT, PrefixT, SyntaxT>
  > (
    this: R,
    path: ManyT extends [] ? never : P | P[],
    operation: Operation,
    ...middleware: ManyT
  ): R
  <
    P extends Path,
    ManyT extends Array<Kone.Middleware<StateT, ContextT & OfPath<PrefixT, P, SyntaxT>>>,
    R = Router<StateT, ContextT, PrefixT, SyntaxT>
  > (
    this: R,
    name: string | symbol,
    path: ManyT extends [] ? never : P | P[],
    operation: Operation,
    ...middleware: ManyT
  ): R
}
