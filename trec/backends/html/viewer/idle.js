// Work that nobody waits for: after the next frame of the screen, or while nothing else is to be done.

/** Milliseconds of idle time that must be left for one more step. */
const STEP = 5;

/** A function that has another one called once after the next frame, however often it is called before. @param {() => void} act */
export function afterFrame(act) {
  let pending = false;
  return () => {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => setTimeout(() => {
      pending = false;
      act();
    }));
  };
}

/** Call a function after the next frame, while nothing else is to be done, until it says that all is done; never in a browser that cannot tell. @param {(left: number) => boolean} step takes the milliseconds that are left */
export function whenIdle(step) {
  /** @param {IdleDeadline} deadline */
  const go = (deadline) => {
    do if (step(deadline.timeRemaining())) return;
    while (deadline.timeRemaining() > STEP);
    requestIdleCallback(go);
  };
  requestAnimationFrame(() => globalThis.requestIdleCallback?.(go));
}

/** Do what takes long only the first time, once for nobody to see. @param {...() => unknown} steps */
export function rehearse(...steps) {
  whenIdle(() => {
    steps.shift()?.();
    return !steps.length;
  });
}
