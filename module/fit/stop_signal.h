#ifndef COOPER_MODULE_FIT_STOP_SIGNAL_H_
#define COOPER_MODULE_FIT_STOP_SIGNAL_H_

// Ctrl-C (SIGINT) and SIGTERM as a wish to end in good order.

namespace cooper {

// While one lives, the first such signal is only noted; a second one does what it did before. One
// at a time counts: an inner one changes nothing.
class StopSignal {
 public:
  StopSignal();
  // Puts back what the signals did before.
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // The number of the signal that came; 0 if none did.
  int received() const;

 private:
  bool installed_ = false;
};

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_STOP_SIGNAL_H_
